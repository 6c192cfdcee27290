// Made by go generate ./sidecar/protocol; do not edit. What each method is for is in docs/protocol.md.

/** The version of the protocol, for initializationOptions. */
export const protocolVersion = 1;

/** What `sidecar lsp` adds to what a sidecar says, and takes with a request: the project's root; with a request also a folder, by path, URI or name. */
export interface Placed {
  workspace?: string;
}

/** What a request may say instead: the document that it is about. */
export interface Placing extends Placed {
  uri?: string;
}

/** Interest says which runs' output a client wants to be sent. */
export type Interest = "all" | "own" | "none";

/** ErrorKind is one of the few, stable kinds of error. */
export type ErrorKind = "bad_request" | "unknown_environment" | "build_failed" | "denied_by_policy" | "backend_missing" | "timed_out" | "out_of_memory" | "cancelled" | "sidecar_gone" | "protocol_mismatch" | "internal";

/** Action is what was done about a finding. */
export type Action = "disarmed" | "noticed" | "failed";

/** Stream is one of a program's two outputs. */
export type Stream = "stdout" | "stderr";

/** Answer is a person's. */
export type Answer = "no" | "once" | "always";

/** InitializeOptions are what a client may say in initialize's initializationOptions. */
export interface InitializeOptions {
  /** protocol is the client's Version; 0 is any. */
  protocol?: number;
  /** output says which output is sent to this client. */
  output?: Interest;
  /** events set to false keeps runStarted, runEnded and finding from this client. */
  events?: boolean;
  /** observer says that this client only looks: it is not listed, and no sidecar lives on because of it. */
  observer?: boolean;
  /** approvals says that this client can ask a person, with sidecar/approve. */
  approvals?: boolean;
  /** log is the least level of the sidecar's log that this client is told of: "debug", "info", "warn" or "error"; "" and "off" are nothing. `sidecar lsp` has the editor show it (window/logMessage), and "" is "warn" there. */
  log?: string;
  /** environment is the client's own environment. Where it is given, PATH, version managers and settings are looked up in it and not in that of whoever started the sidecar. It is not what runs get. */
  environment?: Record<string, string>;
  /** lenses set to false keeps `sidecar lsp` from offering code lenses, as a plugin does that shows its own. */
  lenses?: boolean;
  /** configFile is the client's settings file (config.ConfigFile); absolute. ExplicitConfig is what --config named. */
  configFile?: string;
  explicitConfig?: string;
}

/** About is what a sidecar says of itself in initialize's result, under capabilities.experimental.sidecar. */
export interface About {
  protocol: number;
  build: Build;
  workspace: string;
  pid: number;
  /** state is the folder of its records, logs and outputs. */
  state?: string;
}

/** Build identifies a program, so that client and sidecar can tell which of them is newer. */
export interface Build {
  /** version is a release's semantic version ("v1.2.0"), or "dev". */
  version: string;
  /** time is when the program's file was last modified. */
  time: string;
}

/** Error says what was asked, what stands against it, and, in Hint, what to do. */
export interface Error {
  kind: ErrorKind;
  message: string;
  hint?: string;
  /** log is a file with all that a build said; absolute. */
  log?: string;
}

/** RunRequest is the parameter of sidecar/run. */
export interface RunRequest extends RunParams {
  /** token is chosen by the client; events of this run carry it to that client, and sidecar/input names the run by it. Unique among the client's runs that have not ended. */
  token?: string;
  /** bytes asks for this run's output as bytes instead of text. */
  bytes?: boolean;
  /** streamStdin says that standard input comes with sidecar/input, after Stdin. */
  streamStdin?: boolean;
  /** terminal gives the program a terminal of its own. What is typed comes with sidecar/input, and all that it shows is output of stdout. */
  terminal?: Terminal;
  /** session says that a person sits before it, or an agent works in it: it lasts and prints as long as it likes, and the network is what the settings give sessions. Timeout still bounds it. */
  session?: boolean;
  /** allow is what the run may beyond the settings. The channel's clients are a person's own programs; what an agent asks for through them must not come here. */
  allow?: Allowance;
  /** approvals says that this client can ask a person about this run, with sidecar/approve. What it said at initialize is about every run. */
  approvals?: boolean;
  /** trace asks for the result's phases: where the run's time went. */
  trace?: boolean;
  /** traceparent and TraceState are the trace that the run is part of (W3C Trace Context), for who exports traces. */
  traceparent?: string;
  tracestate?: string;
}

/** RunParams asks for one execution of code, or of a command, in the workspace's sandbox. Exactly one of Code (with Language) and Command is set. */
export interface RunParams {
  /** language names the language of Code, by its name or an alias ("python", "py", "node", …). */
  language?: string;
  /** code is the program's text. */
  code?: string;
  /** command is a program and its arguments, found through the sandbox's PATH. */
  command?: string[];
  /** environment is the id of an environment (sidecar/envs); "" lets the settings and Packages decide. */
  environment?: string;
  /** packages are packages of nixpkgs that the run needs beside its language: "ripgrep", "python3Packages.numpy". */
  packages?: string[];
  /** files are files and folders of the host that the run may read, WritableFiles those that it may change as well: those that the settings show runs anyway, or that a person approves. Absolute, or relative to the workspace's root; neither ~ nor variables are expanded. */
  files?: string[];
  writableFiles?: string[];
  /** args are further arguments of the program that Code is. */
  args?: string[];
  /** stdin is what the program reads on standard input, as UTF-8 text. Where there is none, that is the null device. */
  stdin?: string;
  /** env adds variables to the clean set. Values never appear in an argument list. */
  env?: Record<string, string>;
  /** cwd is the working folder: absolute, or relative to the workspace's root; it must be inside it. */
  cwd?: string;
  /** timeoutMs is how long the run may last; 0 is the configured default. It may not exceed the configured maximum. */
  timeoutMs?: number;
  /** sessionName has Code run by the interpreter that is kept under this name for the workspace and the language, which is started if there is none: variables and imports stay from call to call. What a call says of Args, Stdin and Timeout is about it alone, Env and Cwd hold from then on, and what the sandbox is made of (Environment, Packages, Files) the session's first call says. */
  sessionName?: string;
  /** client says who asks, for people to read ("terminal", "claude-code 2.1"). */
  client?: string;
}

/** Terminal is a terminal: its size in characters, and what it understands (the variables TERM and COLORTERM). */
export interface Terminal {
  rows: number;
  columns: number;
  term?: string;
  colorTerm?: string;
}

/** Allowance is what a person gives a run beyond the settings. Paths are absolute. */
export interface Allowance {
  /** profile is one of the settings' or of the ready ones; what follows adds to it, or takes its place. */
  profile?: string;
  /** policy is a profile in the place of one of the settings: the file that it is from, which names it, and its text. */
  policy?: Policy;
  /** home is "empty" or "kept"; "" is the profile's. */
  home?: string;
  rwDirs?: string[];
  rwFiles?: string[];
  roDirs?: string[];
  roFiles?: string[];
  /** network is "open" or "none"; "" is the profile's, or the settings'. */
  network?: string;
  /** allowedDomains are the names that may be reached, each with its HTTP methods; null is every method. Absent leaves the profile's or the settings'; an empty map is nothing. */
  allowedDomains?: Record<string, string[]>;
  /** allowedPorts are TCP ports of this machine's loopback, AllPorts all of them. */
  allowedPorts?: number[];
  allPorts?: boolean;
  /** sockets are unix sockets of this machine. */
  sockets?: string[];
  /** nix lets Nix itself work inside. */
  nix?: boolean;
}

/** Policy is a profile with a file of its own. */
export interface Policy {
  /** file is its absolute path. It is not read: Text is what it holds, as YAML or JSON. */
  file: string;
  text: string;
}

/** RunResult is how a run ended. */
export interface RunResult {
  id: string;
  /** exitCode is the program's own; 128+n when signal n ended it; -1 when it never started. */
  exitCode: number;
  /** signal is the name of the signal that ended the program ("SIGSEGV"), if one did. */
  signal?: string;
  /** limit names the limit that ended the run ("time", "memory", "output", "processes"), if one did. */
  limit?: string;
  /** bounds says what bounded the memory and the number of all its processes together: BoundsGroup or BoundsWatch. */
  bounds?: string;
  cancelled?: boolean;
  stdout: Output;
  stderr: Output;
  /** durationMs is from the request to the program's end. */
  durationMs: number;
  /** start says how the program was started: StartWarm, StartReady or StartCold. */
  start?: string;
  /** maxRSS is the largest resident memory of a single process of the run, in bytes. */
  maxRSS?: number;
  /** maxMemory is the most that all its processes and its files in memory took at one time, in bytes, where a control group counts that. */
  maxMemory?: number;
  /** cpuMs is the processor time of all processes that the program waited for, and its own. */
  cpuMs?: number;
  /** workspace is the root the run had; WorkspaceSource says where it came from ("roots", "--workspace", …). */
  workspace: string;
  workspaceSource?: string;
  environment: string;
  /** interpreter is the program that ran the code, as the sandbox sees it. */
  interpreter?: string;
  /** findings are what the guard and the audit noticed while and after the run. */
  findings?: Finding[];
  /** denied is what the run wanted to reach and could not. */
  denied?: Denial[];
  /** auditPending says that the audit of a large tree goes on; its findings come with a later result. */
  auditPending?: boolean;
  /** notes are sentences for whoever asked: what was denied, why, and what to do. */
  notes?: string[];
  /** session is about the session that the code ran in, if it named one. */
  session?: SessionCall;
  /** gaps are the promises that this machine's sandbox could not keep, in words. */
  gaps?: string[];
  /** phases are where the run's time went, by their beginnings, if the request had trace. They may overlap. */
  phases?: Phase[];
}

/** Output is what one stream of a run printed. */
export interface Output {
  /** text is the whole of it when it is short, else its head, a line that says how much is left out, and its tail. Bytes that are no UTF-8 are replaced by U+FFFD. */
  text: string;
  /** bytes is how many bytes the program wrote in all. */
  bytes: number;
  /** truncated says that Text is not the whole. */
  truncated?: boolean;
  /** file holds the whole, raw, when there is more than a few kilobytes of it; it stays until it is pruned. Absolute. */
  file?: string;
}

/** Finding is something that a run made or changed and that a host program would later execute or obey. */
export interface Finding {
  /** path is absolute. */
  path: string;
  /** reason says which host program would obey it and how. */
  reason: string;
  action: Action;
  /** movedTo is where a disarmed file is now; absolute. It is "" when it was removed, as it held nothing. */
  movedTo?: string;
  error?: string;
}

/** Denial is something that a run wanted to reach and was refused. */
export interface Denial {
  /** host is a name or an address, Method the HTTP method if that is known. */
  host: string;
  port?: number;
  method?: string;
  /** why says what stands against it, Setting what would allow it, if anything does. */
  why: string;
  setting?: string;
  /** count is how often it was tried. */
  count?: number;
}

/** SessionCall is what a result says of the session that its code ran in. */
export interface SessionCall {
  name: string;
  /** call is the number of this call in the session; 1 means that it is new, without any state. */
  call: number;
  /** lost says why the state of an earlier session of this name, which this call may count on, is gone. */
  lost?: string;
  /** ended says why the session has ended with this call; the next one starts anew. */
  ended?: string;
}

/** Phase is a part of a run's time. */
export interface Phase {
  name: string;
  /** startMs is when it began, counted from the request's arrival. */
  startMs: number;
  durationMs: number;
}

/** InputParams is the parameter of sidecar/input, a request that is answered when the program has taken the data. */
export interface InputParams {
  token: string;
  data?: string;
  /** end closes the program's standard input after Data. */
  end?: boolean;
}

/** Empty is the result of a request that has none, and the parameter of one that takes none. */
export type Empty = Record<string, never>;

/** SignalParams is the parameter of sidecar/signal, which sends a signal to the program of a run, by the run's id or the client's token. CONT lets a program that was stopped go on in the foreground of its terminal. */
export interface SignalParams {
  id?: string;
  token?: string;
  signal: string;
}

/** ResizeParams is the parameter of sidecar/resize: the new size of the terminal of one of the client's runs. */
export interface ResizeParams {
  token: string;
  rows: number;
  columns: number;
}

/** CancelParams is the parameter of sidecar/cancel, which ends any client's run, by its id, or one of the client's own, by its token. */
export interface CancelParams {
  id?: string;
  token?: string;
}

/** CancelResult says whether the run was still going on. */
export interface CancelResult {
  cancelled: boolean;
}

/** RunsParams is the parameter of sidecar/runs: which runs to list. The zero value is all of the workspace. */
export interface RunsParams {
  /** limit is how many to give at most; 0 is 200. */
  limit?: number;
  /** live leaves out those that have ended. */
  live?: boolean;
  /** failed leaves out those that go on, and those that ended with the status 0 and of themselves. */
  failed?: boolean;
  /** findings leaves out those without a finding. */
  findings?: boolean;
  /** client is the beginning of the client's name, Language the language's whole name, whatever their case. */
  client?: string;
  language?: string;
  /** since and Before bound when they were asked for: not before, and before. */
  since?: string;
  before?: string;
}

/** RunsResult are runs, the newest first. */
export interface RunsResult {
  runs: Run[];
}

/** Run is one run as every client may see it. End is nil while it lasts. */
export interface Run {
  id: string;
  client?: string;
  /** token is the client's own, in events to the client that asked for this run. */
  token?: string;
  language?: string;
  command?: string[];
  /** code is the head of the code, CodeBytes its length. */
  code?: string;
  codeBytes?: number;
  cwd?: string;
  /** workspace is the root of its project, where runs of several are listed, or it is one of the history. */
  workspace?: string;
  /** sessionName is the named session that the code runs in. */
  sessionName?: string;
  /** session says that it is a session of an agent or a person, Profile under which profile. */
  session?: boolean;
  profile?: string;
  started: string;
  end?: RunEnd;
}

/** RunEnd is how a run ended: Error, when it could not be done, or the rest. */
export interface RunEnd {
  time: string;
  exitCode: number;
  signal?: string;
  limit?: string;
  cancelled?: boolean;
  /** lost says that its sidecar died while it went on: how it would have ended nobody knows. Error says so in words. */
  lost?: boolean;
  durationMs: number;
  maxRSS?: number;
  /** cpuMs is the processor time that it took. */
  cpuMs?: number;
  stdoutBytes: number;
  stderrBytes: number;
  findings?: Finding[];
  denied?: Denial[];
  error?: Error;
}

/** RecordParams is the parameter of sidecar/record. */
export interface RecordParams {
  id: string;
}

/** RunRecord is all that the history keeps of a run. */
export interface RunRecord {
  run: Run;
  /** request is what was asked for, without Env. Where Keep is "metadata" it has neither code nor input nor arguments. */
  request: RunParams;
  /** envNames are the variables that the request set. Their values are never kept. */
  envNames?: string[];
  /** allow is what a person gave it beyond the settings. Of a policy's file it has the name, not the text. */
  allow?: Allowance;
  /** terminal says that it had one, StreamedStdin that it read what is not kept. */
  terminal?: boolean;
  streamedStdin?: boolean;
  /** keep is the setting history.keep as it was: "full" or "metadata". */
  keep: string;
  /** environment is what it ran in, Interpreter the program that ran the code. */
  environment: RecordedEnvironment;
  interpreter?: string;
  /** policy is what it could see, do and reach, a line a fact; "" when it came to none. */
  policy?: string;
  /** gaps and Notes are as in RunResult. */
  gaps?: string[];
  notes?: string[];
  /** stdout and Stderr are what it printed. */
  stdout: RecordedOutput;
  stderr: RecordedOutput;
}

/** RecordedEnvironment is the environment that a run had. */
export interface RecordedEnvironment {
  id?: string;
  provider?: string;
  /** store is the store path of one that Nix built, Shell says that it is a dev shell, which is more than its path. */
  store?: string;
  shell?: boolean;
}

/** RecordedOutput is a stream of a run as it is kept: Text when it was short, else the File that has the whole of it until that is pruned. Neither where the history keeps metadata alone. */
export interface RecordedOutput {
  bytes: number;
  text?: string;
  file?: string;
}

/** RunOutputParams is the parameter of sidecar/runOutput. */
export interface RunOutputParams {
  id: string;
  stream: Stream;
  /** offset is the first byte wanted, Limit how many at most; 0 is as many as fit in one answer (1 MiB). */
  offset?: number;
  limit?: number;
  /** asBytes asks for bytes instead of text. */
  asBytes?: boolean;
}

/** RunOutputResult is a part of what a run printed. */
export interface RunOutputResult {
  text?: string;
  bytes?: string;
  /** next is the offset of what follows; Total is how much there is in all, so far. */
  next: number;
  total: number;
  /** live says that the run goes on. */
  live?: boolean;
  /** missing is how many bytes at the end can no longer be had, as the file with them is gone. */
  missing?: number;
}

/** ListSessionsResult are the sessions that a sidecar keeps, by their names. */
export interface ListSessionsResult {
  sessions: NamedSession[];
}

/** NamedSession is an interpreter that is kept. */
export interface NamedSession {
  name: string;
  language: string;
  environment: string;
  interpreter?: string;
  /** client is who started it. */
  client?: string;
  started: string;
  /** used is when its last call ended, Calls how many there were, Run the one that goes on. */
  used: string;
  calls: number;
  run?: string;
}

/** CloseSessionParams is the parameter of sidecar/closeSession. */
export interface CloseSessionParams {
  name: string;
  /** language closes only the session of that language; "" those of all. */
  language?: string;
}

/** CloseSessionResult are the sessions that were closed. */
export interface CloseSessionResult {
  closed: NamedSession[];
}

/** EnvsResult is what code can run with. */
export interface EnvsResult {
  environments: Environment[];
}

/** Environment is what one provider offers. */
export interface Environment {
  id: string;
  provider: string;
  /** summary says what it is for; NotBuilt that its first run waits for Nix; Packages are what is in it beside languages. */
  summary?: string;
  notBuilt?: boolean;
  packages?: string[];
  languages: Language[];
  missing?: MissingLanguage[];
  /** path is PATH inside the sandbox. */
  path?: string[];
}

/** Language is a language that an environment can run. */
export interface Language {
  name: string;
  aliases?: string[];
  version?: string;
  program: string;
  /** via says how it was found. */
  via?: string;
}

/** MissingLanguage is one that it cannot run, and how to get it. */
export interface MissingLanguage {
  name: string;
  hint: string;
}

/** StatusResult is how a sidecar is. */
export interface StatusResult {
  workspace: string;
  branch?: string;
  /** worktree says that the workspace is a linked worktree, CommonDir is then the git dir that it shares. */
  worktree?: boolean;
  commonDir?: string;
  pid: number;
  socket: string;
  build: Build;
  started: string;
  /** memory is the resident memory of the sidecar itself, in bytes; 0 is unknown. */
  memory?: number;
  clients: Client[];
  /** runs are those that go on, the newest first; RunsBefore is how many have ended. */
  runs: Run[];
  runsBefore: number;
  /** sessions are the named sessions that are kept. */
  sessions?: NamedSession[];
  /** ending says that it takes no further runs and ends after those it has. */
  ending?: boolean;
  /** silent says that the process holds the socket and does not answer; only PID and Socket are known of it. */
  silent?: boolean;
}

/** Client is who is connected. */
export interface Client {
  name: string;
  version?: string;
  pid?: number;
  since: string;
  runs: number;
}

/** StopParams is the parameter of sidecar/stop. */
export interface StopParams {
  /** finish lets the runs that go on come to their end; else they are cancelled. */
  finish?: boolean;
}

/** RunEvent is the parameter of sidecar/runStarted and sidecar/runEnded. */
export interface RunEvent {
  run: Run;
}

/** OutputParams is the parameter of sidecar/output. */
export interface OutputParams {
  id: string;
  /** token is the client's own, if it asked for this run. */
  token?: string;
  stream: Stream;
  /** text is output as text; characters are never cut in two, and bytes that are no UTF-8 are U+FFFD. */
  text?: string;
  /** bytes is output as it is (base64), for who asked for bytes. */
  bytes?: string;
  /** dropped is how many bytes before this were not sent, since the client did not read fast enough; it happens only to clients that watch the run of another. sidecar/runOutput has them. */
  dropped?: number;
}

/** Building is the parameter of sidecar/building: how far the environment of a run has come. */
export interface Building {
  id: string;
  token?: string;
  /** environment says what is built. */
  environment: string;
  /** stage is "waiting" (for another process that builds it), "evaluating", "fetching" or "building"; Name is what is fetched or built now. */
  stage: string;
  name?: string;
  /** done of Total derivations and store paths are there. The total grows while Nix finds out what is needed. */
  done?: number;
  total?: number;
}

/** BegunParams is the parameter of sidecar/begun: the environment of a run is there, and its program starts now. */
export interface BegunParams {
  id: string;
  token?: string;
}

/** StoppedParams is the parameter of sidecar/stopped: a signal stopped the program of a terminal, as Ctrl-Z does. */
export interface StoppedParams {
  id: string;
  token?: string;
  signal: string;
}

/** DeniedParams is the parameter of sidecar/denied: a run was refused what it wanted to reach. */
export interface DeniedParams {
  id: string;
  token?: string;
  denial: Denial;
}

/** Question is the parameter of sidecar/approve, which a sidecar asks each client that can ask a person. The first answer counts; the others are asked no more ($/cancelRequest). */
export interface Question {
  /** id is the question's own. Run and Client say for what run it is, and who asked for that. Token is the client's own, if it was this one. */
  id: string;
  run: string;
  client?: string;
  token?: string;
  kind: string;
  /** subject is what it is about ("example.com:443", a path), Text the question in words. */
  subject: string;
  text: string;
  /** setting is what would allow it for good. Writes is what "always" adds to which of the settings, File where; without one there is no such answer. */
  setting?: string;
  writes?: string;
  file?: string;
}

/** ApproveResult is the answer. */
export interface ApproveResult {
  answer: Answer;
}

/** FindingParams is the parameter of sidecar/finding. */
export interface FindingParams {
  /** id is the run's; "" when the run is not known. */
  id?: string;
  finding: Finding;
}

/** LogParams is the parameter of sidecar/log: a line of the sidecar's log. It never has code, output, or values of variables. */
export interface LogParams {
  time: string;
  /** level is "debug", "info", "warn" or "error". */
  level: string;
  /** text is the message, and its values as name=value. */
  text: string;
}

/** WorkspacesResult are the folders of an editor, as `sidecar lsp` has them. */
export interface WorkspacesResult {
  workspaces: Workspace[];
}

/** Workspace is one folder of an editor, and the sidecar that it has. */
export interface Workspace {
  /** folder is the folder's URI, as the editor named it; "" when the editor named none. */
  folder?: string;
  name?: string;
  /** root is the root of the project around it; absolute. */
  root?: string;
  /** about is what its sidecar says of itself, while there is a connection; Error why there is none, if that is no matter of a moment. */
  about?: About;
  error?: Error;
}

/** ConnectionParams is the parameter of sidecar/connection: `sidecar lsp` is connected to a project's sidecar, or no longer. */
export interface ConnectionParams {
  /** workspace is the project's root. */
  workspace: string;
  connected: boolean;
  /** pid is the sidecar's process. */
  pid?: number;
}

/** The JSON-RPC codes of the kinds of errors; an error's data has kind and hint. */
export const errorCodes: Record<ErrorKind, number> = {
  bad_request: -32602,
  unknown_environment: -32010,
  build_failed: -32011,
  denied_by_policy: -32012,
  backend_missing: -32013,
  timed_out: -32014,
  out_of_memory: -32015,
  cancelled: -32800,
  sidecar_gone: -32016,
  protocol_mismatch: -32017,
  internal: -32603,
};

/** The methods' names. */
export const methods = {
  /** Does a run and answers when every process of it is gone and the audit is done. `$/cancelRequest`, `sidecar/cancel` and the end of the connection cancel it; a cancelled run is answered like any other, with `cancelled`. Give either `language` and `code`, or `command`. With `trace` the result has `phases`. */
  run: "sidecar/run",
  /** Hands standard input to a run that was asked for with `streamStdin`; `data` is base64. Answered when the program has taken it, so that a client need not guess how much it may send; input for a run that has ended is dropped. */
  input: "sidecar/input",
  /** Sends a signal (`INT`, `TERM`, `HUP`, `CONT`, …) to the process group of a run's program. `CONT` lets a program that was stopped go on in the foreground of its terminal. */
  signal: "sidecar/signal",
  /** Says that the terminal of one of the client's runs has another size now. */
  resize: "sidecar/resize",
  /** Ends any run by its id, or one of the client's own by its token. */
  cancel: "sidecar/cancel",
  /** Lists the workspace's runs, for whichever client, the newest first: those of this sidecar, and from the history those before it. Without a `limit` it gives 200. */
  runs: "sidecar/runs",
  /** Gives all that the history keeps of a run of this workspace: what was asked for, under which policy, how it ended, what it printed or where that is. */
  record: "sidecar/record",
  /** Gives a part of what a run printed, also while it goes on. Ask again from `next` on until that is `total` and `live` is not set. */
  runOutput: "sidecar/runOutput",
  /** Lists the named sessions: interpreters that are kept between runs (`sessionName` of sidecar/run). */
  listSessions: "sidecar/listSessions",
  /** Ends named sessions. A call that goes on in one ends with it. */
  closeSession: "sidecar/closeSession",
  /** Says what code can run with, and how to get what is missing. */
  envs: "sidecar/envs",
  /** Says how the sidecar is: its workspace, who is connected, which runs go on. */
  status: "sidecar/status",
  /** Ends the sidecar: at once, its runs cancelled, or with `finish` after them. The next client that needs one starts it. A client whose protocol was refused may send this too: so a newer program takes over. */
  stop: "sidecar/stop",
  /** A run begins. To every client that has not set `events` to false, and with its `token` to the one that asked for it. */
  runStarted: "sidecar/runStarted",
  /** Output of a run, in order, and before the answer to the run. The client that asked for the run is waited for; others get what they read in time, and `dropped` says how many bytes they missed. */
  output: "sidecar/output",
  /** Nix makes the environment of a run, which starts when it is there. To every client that has not set `events` to false, and to the one that asked for the run. */
  building: "sidecar/building",
  /** The environment of a run is there and its program starts; it may be said again, when the start has to be made anew. To the client that asked for the run, which keeps its terminal, and what is typed, until then. */
  begun: "sidecar/begun",
  /** A run has ended, or could not be done. */
  runEnded: "sidecar/runEnded",
  /** The program of a terminal was stopped, as by Ctrl-Z: the client that asked for the run may give the person's shell back until `sidecar/signal` with `CONT`. */
  stopped: "sidecar/stopped",
  /** A run was refused what it wanted to reach. */
  denied: "sidecar/denied",
  /** Asks a person something while a run waits; only clients that said `approvals` are asked, at initialize about every run or in sidecar/run about that one, all of them, and the first answer counts. `always` is written to the person's settings. Where nobody answers it is `no`. */
  approve: "sidecar/approve",
  /** The guard or the audit found something that host programs would obey. */
  finding: "sidecar/finding",
  /** A line of the sidecar's log, to clients that asked for its level with `log`. `sidecar lsp` sends it on as `window/logMessage`. A client that does not read misses lines. */
  log: "sidecar/log",
  /** Says which folders the editor has open, and which sidecar each has. */
  workspaces: "sidecar/workspaces",
  /** The project has a sidecar that is connected, or no longer: then it died, and another one is started at once, or it was stopped, and the next request starts one. What the editor asked of the old one was answered with `sidecar_gone`. */
  connection: "sidecar/connection",
} as const;

/** What an editor asks. */
export interface Requests {
  "sidecar/run": { params: RunRequest & Placing; result: RunResult };
  "sidecar/input": { params: InputParams & Placing; result: Empty };
  "sidecar/signal": { params: SignalParams & Placing; result: Empty };
  "sidecar/resize": { params: ResizeParams & Placing; result: Empty };
  "sidecar/cancel": { params: CancelParams & Placing; result: CancelResult };
  "sidecar/runs": { params: RunsParams & Placing; result: RunsResult };
  "sidecar/record": { params: RecordParams & Placing; result: RunRecord };
  "sidecar/runOutput": { params: RunOutputParams & Placing; result: RunOutputResult };
  "sidecar/listSessions": { params: Placing; result: ListSessionsResult };
  "sidecar/closeSession": { params: CloseSessionParams & Placing; result: CloseSessionResult };
  "sidecar/envs": { params: Placing; result: EnvsResult };
  "sidecar/status": { params: Placing; result: StatusResult };
  "sidecar/stop": { params: StopParams & Placing; result: Empty };
  "sidecar/workspaces": { params: Placing; result: WorkspacesResult };
}

/** What an editor is asked. */
export interface Questions {
  "sidecar/approve": { params: Question & Placed; result: ApproveResult };
}

/** What an editor is told. */
export interface Notifications {
  "sidecar/runStarted": RunEvent & Placed;
  "sidecar/output": OutputParams & Placed;
  "sidecar/building": Building & Placed;
  "sidecar/begun": BegunParams & Placed;
  "sidecar/runEnded": RunEvent & Placed;
  "sidecar/stopped": StoppedParams & Placed;
  "sidecar/denied": DeniedParams & Placed;
  "sidecar/finding": FindingParams & Placed;
  "sidecar/log": LogParams & Placed;
  "sidecar/connection": ConnectionParams & Placed;
}
