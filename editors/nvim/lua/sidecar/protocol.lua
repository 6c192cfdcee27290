-- Made by go generate ./sidecar/protocol; do not edit. What each method is for is in docs/protocol.md.

local M = {}

--- The version of the protocol, for init_options.
M.version = 1

--- Interest says which runs' output a client wants to be sent.
---@alias sidecar.Interest
---| "all"
---| "own"
---| "none"

--- ErrorKind is one of the few, stable kinds of error.
---@alias sidecar.ErrorKind
---| "bad_request"
---| "unknown_environment"
---| "build_failed"
---| "denied_by_policy"
---| "backend_missing"
---| "timed_out"
---| "out_of_memory"
---| "cancelled"
---| "sidecar_gone"
---| "protocol_mismatch"
---| "internal"

--- Action is what was done about a finding.
---@alias sidecar.Action
---| "disarmed"
---| "noticed"
---| "failed"

--- Stream is one of a program's two outputs.
---@alias sidecar.Stream
---| "stdout"
---| "stderr"

--- Answer is a person's.
---@alias sidecar.Answer
---| "no"
---| "once"
---| "always"

--- InitializeOptions are what a client may say in initialize's initializationOptions.
---@class sidecar.InitializeOptions
---@field protocol? number protocol is the client's Version; 0 is any.
---@field output? sidecar.Interest output says which output is sent to this client.
---@field events? boolean events set to false keeps runStarted, runEnded and finding from this client.
---@field observer? boolean observer says that this client only looks: it is not listed, and no sidecar lives on because of it.
---@field approvals? boolean approvals says that this client can ask a person, with sidecar/approve.
---@field log? string log is the least level of the sidecar's log that this client is told of: "debug", "info", "warn" or "error"; "" and "off" are nothing. `sidecar lsp` has the editor show it (window/logMessage), and "" is "warn" there.
---@field environment? table<string, string> environment is the client's own environment. Where it is given, PATH, version managers and settings are looked up in it and not in that of whoever started the sidecar. It is not what runs get.
---@field lenses? boolean lenses set to false keeps `sidecar lsp` from offering code lenses, as a plugin does that shows its own.
---@field configFile? string configFile is the client's settings file (config.ConfigFile); absolute. ExplicitConfig is what --config named.
---@field explicitConfig? string

--- About is what a sidecar says of itself in initialize's result, under capabilities.experimental.sidecar.
---@class sidecar.About
---@field protocol number
---@field build sidecar.Build
---@field workspace string
---@field pid number
---@field state? string state is the folder of its records, logs and outputs.

--- Build identifies a program, so that client and sidecar can tell which of them is newer.
---@class sidecar.Build
---@field version string version is a release's semantic version ("v1.2.0"), or "dev".
---@field time string time is when the program's file was last modified.

--- Error says what was asked, what stands against it, and, in Hint, what to do.
---@class sidecar.Error
---@field kind sidecar.ErrorKind
---@field message string
---@field hint? string
---@field log? string log is a file with all that a build said; absolute.

--- RunRequest is the parameter of sidecar/run.
---@class sidecar.RunRequest : sidecar.RunParams
---@field token? string token is chosen by the client; events of this run carry it to that client, and sidecar/input names the run by it. Unique among the client's runs that have not ended.
---@field bytes? boolean bytes asks for this run's output as bytes instead of text.
---@field streamStdin? boolean streamStdin says that standard input comes with sidecar/input, after Stdin.
---@field terminal? sidecar.Terminal terminal gives the program a terminal of its own. What is typed comes with sidecar/input, and all that it shows is output of stdout.
---@field session? boolean session says that a person sits before it, or an agent works in it: it lasts and prints as long as it likes, and the network is what the settings give sessions. Timeout still bounds it.
---@field allow? sidecar.Allowance allow is what the run may beyond the settings. The channel's clients are a person's own programs; what an agent asks for through them must not come here.
---@field approvals? boolean approvals says that this client can ask a person about this run, with sidecar/approve. What it said at initialize is about every run.
---@field trace? boolean trace asks for the result's phases: where the run's time went.
---@field traceparent? string traceparent and TraceState are the trace that the run is part of (W3C Trace Context), for who exports traces.
---@field tracestate? string
---@field workspace? string the project's root, as `sidecar lsp` adds it and takes it with requests

--- RunParams asks for one execution of code, or of a command, in the workspace's sandbox. Exactly one of Code (with Language) and Command is set.
---@class sidecar.RunParams
---@field language? string language names the language of Code, by its name or an alias ("python", "py", "node", …).
---@field code? string code is the program's text.
---@field command? string[] command is a program and its arguments, found through the sandbox's PATH.
---@field environment? string environment is the id of an environment (sidecar/envs); "" lets the settings and Packages decide.
---@field packages? string[] packages are packages of nixpkgs that the run needs beside its language: "ripgrep", "python3Packages.numpy".
---@field files? string[] files are files and folders of the host that the run may read, WritableFiles those that it may change as well: those that the settings show runs anyway, or that a person approves. Absolute, or relative to the workspace's root; neither ~ nor variables are expanded.
---@field writableFiles? string[]
---@field args? string[] args are further arguments of the program that Code is.
---@field stdin? string stdin is what the program reads on standard input, as UTF-8 text. Where there is none, that is the null device.
---@field env? table<string, string> env adds variables to the clean set. Values never appear in an argument list.
---@field cwd? string cwd is the working folder: absolute, or relative to the workspace's root; it must be inside it.
---@field timeoutMs? number timeoutMs is how long the run may last; 0 is the configured default. It may not exceed the configured maximum.
---@field sessionName? string sessionName has Code run by the interpreter that is kept under this name for the workspace and the language, which is started if there is none: variables and imports stay from call to call. What a call says of Args, Stdin and Timeout is about it alone, Env and Cwd hold from then on, and what the sandbox is made of (Environment, Packages, Files) the session's first call says.
---@field client? string client says who asks, for people to read ("terminal", "claude-code 2.1").

--- Terminal is a terminal: its size in characters, and what it understands (the variables TERM and COLORTERM).
---@class sidecar.Terminal
---@field rows number
---@field columns number
---@field term? string
---@field colorTerm? string

--- Allowance is what a person gives a run beyond the settings. Paths are absolute.
---@class sidecar.Allowance
---@field profile? string profile is one of the settings' or of the ready ones; what follows adds to it, or takes its place.
---@field policy? sidecar.Policy policy is a profile in the place of one of the settings: the file that it is from, which names it, and its text.
---@field home? string home is "empty" or "kept"; "" is the profile's.
---@field rwDirs? string[]
---@field rwFiles? string[]
---@field roDirs? string[]
---@field roFiles? string[]
---@field network? string network is "open" or "none"; "" is the profile's, or the settings'.
---@field allowedDomains? table<string, string[]> allowedDomains are the names that may be reached, each with its HTTP methods; null is every method. Absent leaves the profile's or the settings'; an empty map is nothing.
---@field allowedPorts? number[] allowedPorts are TCP ports of this machine's loopback, AllPorts all of them.
---@field allPorts? boolean
---@field sockets? string[] sockets are unix sockets of this machine.
---@field nix? boolean nix lets Nix itself work inside.

--- Policy is a profile with a file of its own.
---@class sidecar.Policy
---@field file string file is its absolute path. It is not read: Text is what it holds, as YAML or JSON.
---@field text string

--- RunResult is how a run ended.
---@class sidecar.RunResult
---@field id string
---@field exitCode number exitCode is the program's own; 128+n when signal n ended it; -1 when it never started.
---@field signal? string signal is the name of the signal that ended the program ("SIGSEGV"), if one did.
---@field limit? string limit names the limit that ended the run ("time", "memory", "output", "processes"), if one did.
---@field bounds? string bounds says what bounded the memory and the number of all its processes together: BoundsGroup or BoundsWatch.
---@field cancelled? boolean
---@field stdout sidecar.Output
---@field stderr sidecar.Output
---@field durationMs number durationMs is from the request to the program's end.
---@field start? string start says how the program was started: StartWarm, StartReady or StartCold.
---@field maxRSS? number maxRSS is the largest resident memory of a single process of the run, in bytes.
---@field maxMemory? number maxMemory is the most that all its processes and its files in memory took at one time, in bytes, where a control group counts that.
---@field cpuMs? number cpuMs is the processor time of all processes that the program waited for, and its own.
---@field workspace string workspace is the root the run had; WorkspaceSource says where it came from ("roots", "--workspace", …).
---@field workspaceSource? string
---@field environment string
---@field interpreter? string interpreter is the program that ran the code, as the sandbox sees it.
---@field findings? sidecar.Finding[] findings are what the guard and the audit noticed while and after the run.
---@field denied? sidecar.Denial[] denied is what the run wanted to reach and could not.
---@field auditPending? boolean auditPending says that the audit of a large tree goes on; its findings come with a later result.
---@field notes? string[] notes are sentences for whoever asked: what was denied, why, and what to do.
---@field session? sidecar.SessionCall session is about the session that the code ran in, if it named one.
---@field gaps? string[] gaps are the promises that this machine's sandbox could not keep, in words.
---@field phases? sidecar.Phase[] phases are where the run's time went, by their beginnings, if the request had trace. They may overlap.

--- Output is what one stream of a run printed.
---@class sidecar.Output
---@field text string text is the whole of it when it is short, else its head, a line that says how much is left out, and its tail. Bytes that are no UTF-8 are replaced by U+FFFD.
---@field bytes number bytes is how many bytes the program wrote in all.
---@field truncated? boolean truncated says that Text is not the whole.
---@field file? string file holds the whole, raw, when there is more than a few kilobytes of it; it stays until it is pruned. Absolute.

--- Finding is something that a run made or changed and that a host program would later execute or obey.
---@class sidecar.Finding
---@field path string path is absolute.
---@field reason string reason says which host program would obey it and how.
---@field action sidecar.Action
---@field movedTo? string movedTo is where a disarmed file is now; absolute. It is "" when it was removed, as it held nothing.
---@field error? string

--- Denial is something that a run wanted to reach and was refused.
---@class sidecar.Denial
---@field host string host is a name or an address, Method the HTTP method if that is known.
---@field port? number
---@field method? string
---@field why string why says what stands against it, Setting what would allow it, if anything does.
---@field setting? string
---@field count? number count is how often it was tried.

--- SessionCall is what a result says of the session that its code ran in.
---@class sidecar.SessionCall
---@field name string
---@field call number call is the number of this call in the session; 1 means that it is new, without any state.
---@field lost? string lost says why the state of an earlier session of this name, which this call may count on, is gone.
---@field ended? string ended says why the session has ended with this call; the next one starts anew.

--- Phase is a part of a run's time.
---@class sidecar.Phase
---@field name string
---@field startMs number startMs is when it began, counted from the request's arrival.
---@field durationMs number

--- InputParams is the parameter of sidecar/input, a request that is answered when the program has taken the data.
---@class sidecar.InputParams
---@field token string
---@field data? string
---@field end? boolean end closes the program's standard input after Data.
---@field workspace? string the project's root, as `sidecar lsp` adds it and takes it with requests

--- Empty is the result of a request that has none, and the parameter of one that takes none.
---@class sidecar.Empty
---@field workspace? string the project's root, as `sidecar lsp` adds it and takes it with requests

--- SignalParams is the parameter of sidecar/signal, which sends a signal to the program of a run, by the run's id or the client's token. CONT lets a program that was stopped go on in the foreground of its terminal.
---@class sidecar.SignalParams
---@field id? string
---@field token? string
---@field signal string
---@field workspace? string the project's root, as `sidecar lsp` adds it and takes it with requests

--- ResizeParams is the parameter of sidecar/resize: the new size of the terminal of one of the client's runs.
---@class sidecar.ResizeParams
---@field token string
---@field rows number
---@field columns number
---@field workspace? string the project's root, as `sidecar lsp` adds it and takes it with requests

--- CancelParams is the parameter of sidecar/cancel, which ends any client's run, by its id, or one of the client's own, by its token.
---@class sidecar.CancelParams
---@field id? string
---@field token? string
---@field workspace? string the project's root, as `sidecar lsp` adds it and takes it with requests

--- CancelResult says whether the run was still going on.
---@class sidecar.CancelResult
---@field cancelled boolean

--- RunsParams is the parameter of sidecar/runs: which runs to list. The zero value is all of the workspace.
---@class sidecar.RunsParams
---@field limit? number limit is how many to give at most; 0 is 200.
---@field live? boolean live leaves out those that have ended.
---@field failed? boolean failed leaves out those that go on, and those that ended with the status 0 and of themselves.
---@field findings? boolean findings leaves out those without a finding.
---@field client? string client is the beginning of the client's name, Language the language's whole name, whatever their case.
---@field language? string
---@field since? string since and Before bound when they were asked for: not before, and before.
---@field before? string
---@field workspace? string the project's root, as `sidecar lsp` adds it and takes it with requests

--- RunsResult are runs, the newest first.
---@class sidecar.RunsResult
---@field runs sidecar.Run[]

--- Run is one run as every client may see it. End is nil while it lasts.
---@class sidecar.Run
---@field id string
---@field client? string
---@field token? string token is the client's own, in events to the client that asked for this run.
---@field language? string
---@field command? string[]
---@field code? string code is the head of the code, CodeBytes its length.
---@field codeBytes? number
---@field cwd? string
---@field workspace? string workspace is the root of its project, where runs of several are listed, or it is one of the history.
---@field sessionName? string sessionName is the named session that the code runs in.
---@field session? boolean session says that it is a session of an agent or a person, Profile under which profile.
---@field profile? string
---@field started string
---@field end? sidecar.RunEnd

--- RunEnd is how a run ended: Error, when it could not be done, or the rest.
---@class sidecar.RunEnd
---@field time string
---@field exitCode number
---@field signal? string
---@field limit? string
---@field cancelled? boolean
---@field lost? boolean lost says that its sidecar died while it went on: how it would have ended nobody knows. Error says so in words.
---@field durationMs number
---@field maxRSS? number
---@field cpuMs? number cpuMs is the processor time that it took.
---@field stdoutBytes number
---@field stderrBytes number
---@field findings? sidecar.Finding[]
---@field denied? sidecar.Denial[]
---@field error? sidecar.Error

--- RecordParams is the parameter of sidecar/record.
---@class sidecar.RecordParams
---@field id string
---@field workspace? string the project's root, as `sidecar lsp` adds it and takes it with requests

--- RunRecord is all that the history keeps of a run.
---@class sidecar.RunRecord
---@field run sidecar.Run
---@field request sidecar.RunParams request is what was asked for, without Env. Where Keep is "metadata" it has neither code nor input nor arguments.
---@field envNames? string[] envNames are the variables that the request set. Their values are never kept.
---@field allow? sidecar.Allowance allow is what a person gave it beyond the settings. Of a policy's file it has the name, not the text.
---@field terminal? boolean terminal says that it had one, StreamedStdin that it read what is not kept.
---@field streamedStdin? boolean
---@field keep string keep is the setting history.keep as it was: "full" or "metadata".
---@field environment sidecar.RecordedEnvironment environment is what it ran in, Interpreter the program that ran the code.
---@field interpreter? string
---@field policy? string policy is what it could see, do and reach, a line a fact; "" when it came to none.
---@field gaps? string[] gaps and Notes are as in RunResult.
---@field notes? string[]
---@field stdout sidecar.RecordedOutput stdout and Stderr are what it printed.
---@field stderr sidecar.RecordedOutput

--- RecordedEnvironment is the environment that a run had.
---@class sidecar.RecordedEnvironment
---@field id? string
---@field provider? string
---@field store? string store is the store path of one that Nix built, Shell says that it is a dev shell, which is more than its path.
---@field shell? boolean

--- RecordedOutput is a stream of a run as it is kept: Text when it was short, else the File that has the whole of it until that is pruned. Neither where the history keeps metadata alone.
---@class sidecar.RecordedOutput
---@field bytes number
---@field text? string
---@field file? string

--- RunOutputParams is the parameter of sidecar/runOutput.
---@class sidecar.RunOutputParams
---@field id string
---@field stream sidecar.Stream
---@field offset? number offset is the first byte wanted, Limit how many at most; 0 is as many as fit in one answer (1 MiB).
---@field limit? number
---@field asBytes? boolean asBytes asks for bytes instead of text.
---@field workspace? string the project's root, as `sidecar lsp` adds it and takes it with requests

--- RunOutputResult is a part of what a run printed.
---@class sidecar.RunOutputResult
---@field text? string
---@field bytes? string
---@field next number next is the offset of what follows; Total is how much there is in all, so far.
---@field total number
---@field live? boolean live says that the run goes on.
---@field missing? number missing is how many bytes at the end can no longer be had, as the file with them is gone.

--- ListSessionsResult are the sessions that a sidecar keeps, by their names.
---@class sidecar.ListSessionsResult
---@field sessions sidecar.NamedSession[]

--- NamedSession is an interpreter that is kept.
---@class sidecar.NamedSession
---@field name string
---@field language string
---@field environment string
---@field interpreter? string
---@field client? string client is who started it.
---@field started string
---@field used string used is when its last call ended, Calls how many there were, Run the one that goes on.
---@field calls number
---@field run? string

--- CloseSessionParams is the parameter of sidecar/closeSession.
---@class sidecar.CloseSessionParams
---@field name string
---@field language? string language closes only the session of that language; "" those of all.
---@field workspace? string the project's root, as `sidecar lsp` adds it and takes it with requests

--- CloseSessionResult are the sessions that were closed.
---@class sidecar.CloseSessionResult
---@field closed sidecar.NamedSession[]

--- EnvsResult is what code can run with.
---@class sidecar.EnvsResult
---@field environments sidecar.Environment[]

--- Environment is what one provider offers.
---@class sidecar.Environment
---@field id string
---@field provider string
---@field summary? string summary says what it is for; NotBuilt that its first run waits for Nix; Packages are what is in it beside languages.
---@field notBuilt? boolean
---@field packages? string[]
---@field languages sidecar.Language[]
---@field missing? sidecar.MissingLanguage[]
---@field path? string[] path is PATH inside the sandbox.

--- Language is a language that an environment can run.
---@class sidecar.Language
---@field name string
---@field aliases? string[]
---@field version? string
---@field program string
---@field via? string via says how it was found.

--- MissingLanguage is one that it cannot run, and how to get it.
---@class sidecar.MissingLanguage
---@field name string
---@field hint string

--- StatusResult is how a sidecar is.
---@class sidecar.StatusResult
---@field workspace string
---@field branch? string
---@field worktree? boolean worktree says that the workspace is a linked worktree, CommonDir is then the git dir that it shares.
---@field commonDir? string
---@field pid number
---@field socket string
---@field build sidecar.Build
---@field started string
---@field memory? number memory is the resident memory of the sidecar itself, in bytes; 0 is unknown.
---@field clients sidecar.Client[]
---@field runs sidecar.Run[] runs are those that go on, the newest first; RunsBefore is how many have ended.
---@field runsBefore number
---@field sessions? sidecar.NamedSession[] sessions are the named sessions that are kept.
---@field ending? boolean ending says that it takes no further runs and ends after those it has.
---@field silent? boolean silent says that the process holds the socket and does not answer; only PID and Socket are known of it.

--- Client is who is connected.
---@class sidecar.Client
---@field name string
---@field version? string
---@field pid? number
---@field since string
---@field runs number

--- StopParams is the parameter of sidecar/stop.
---@class sidecar.StopParams
---@field finish? boolean finish lets the runs that go on come to their end; else they are cancelled.
---@field workspace? string the project's root, as `sidecar lsp` adds it and takes it with requests

--- RunEvent is the parameter of sidecar/runStarted and sidecar/runEnded.
---@class sidecar.RunEvent
---@field run sidecar.Run
---@field workspace? string the project's root, as `sidecar lsp` adds it and takes it with requests

--- OutputParams is the parameter of sidecar/output.
---@class sidecar.OutputParams
---@field id string
---@field token? string token is the client's own, if it asked for this run.
---@field stream sidecar.Stream
---@field text? string text is output as text; characters are never cut in two, and bytes that are no UTF-8 are U+FFFD.
---@field bytes? string bytes is output as it is (base64), for who asked for bytes.
---@field dropped? number dropped is how many bytes before this were not sent, since the client did not read fast enough; it happens only to clients that watch the run of another. sidecar/runOutput has them.
---@field workspace? string the project's root, as `sidecar lsp` adds it and takes it with requests

--- Building is the parameter of sidecar/building: how far the environment of a run has come.
---@class sidecar.Building
---@field id string
---@field token? string
---@field environment string environment says what is built.
---@field stage string stage is "waiting" (for another process that builds it), "evaluating", "fetching" or "building"; Name is what is fetched or built now.
---@field name? string
---@field done? number done of Total derivations and store paths are there. The total grows while Nix finds out what is needed.
---@field total? number
---@field workspace? string the project's root, as `sidecar lsp` adds it and takes it with requests

--- BegunParams is the parameter of sidecar/begun: the environment of a run is there, and its program starts now.
---@class sidecar.BegunParams
---@field id string
---@field token? string
---@field workspace? string the project's root, as `sidecar lsp` adds it and takes it with requests

--- StoppedParams is the parameter of sidecar/stopped: a signal stopped the program of a terminal, as Ctrl-Z does.
---@class sidecar.StoppedParams
---@field id string
---@field token? string
---@field signal string
---@field workspace? string the project's root, as `sidecar lsp` adds it and takes it with requests

--- DeniedParams is the parameter of sidecar/denied: a run was refused what it wanted to reach.
---@class sidecar.DeniedParams
---@field id string
---@field token? string
---@field denial sidecar.Denial
---@field workspace? string the project's root, as `sidecar lsp` adds it and takes it with requests

--- Question is the parameter of sidecar/approve, which a sidecar asks each client that can ask a person. The first answer counts; the others are asked no more ($/cancelRequest).
---@class sidecar.Question
---@field id string id is the question's own. Run and Client say for what run it is, and who asked for that. Token is the client's own, if it was this one.
---@field run string
---@field client? string
---@field token? string
---@field kind string
---@field subject string subject is what it is about ("example.com:443", a path), Text the question in words.
---@field text string
---@field setting? string setting is what would allow it for good. Writes is what "always" adds to which of the settings, File where; without one there is no such answer.
---@field writes? string
---@field file? string
---@field workspace? string the project's root, as `sidecar lsp` adds it and takes it with requests

--- ApproveResult is the answer.
---@class sidecar.ApproveResult
---@field answer sidecar.Answer

--- FindingParams is the parameter of sidecar/finding.
---@class sidecar.FindingParams
---@field id? string id is the run's; "" when the run is not known.
---@field finding sidecar.Finding
---@field workspace? string the project's root, as `sidecar lsp` adds it and takes it with requests

--- LogParams is the parameter of sidecar/log: a line of the sidecar's log. It never has code, output, or values of variables.
---@class sidecar.LogParams
---@field time string
---@field level string level is "debug", "info", "warn" or "error".
---@field text string text is the message, and its values as name=value.
---@field workspace? string the project's root, as `sidecar lsp` adds it and takes it with requests

--- WorkspacesResult are the folders of an editor, as `sidecar lsp` has them.
---@class sidecar.WorkspacesResult
---@field workspaces sidecar.Workspace[]

--- Workspace is one folder of an editor, and the sidecar that it has.
---@class sidecar.Workspace
---@field folder? string folder is the folder's URI, as the editor named it; "" when the editor named none.
---@field name? string
---@field root? string root is the root of the project around it; absolute.
---@field about? sidecar.About about is what its sidecar says of itself, while there is a connection; Error why there is none, if that is no matter of a moment.
---@field error? sidecar.Error

--- ConnectionParams is the parameter of sidecar/connection: `sidecar lsp` is connected to a project's sidecar, or no longer.
---@class sidecar.ConnectionParams
---@field workspace string workspace is the project's root.
---@field connected boolean
---@field pid? number pid is the sidecar's process.

--- The JSON-RPC codes of the kinds of errors; an error's data has kind and hint.
---@type table<sidecar.ErrorKind, integer>
M.codes = {
  bad_request = -32602,
  unknown_environment = -32010,
  build_failed = -32011,
  denied_by_policy = -32012,
  backend_missing = -32013,
  timed_out = -32014,
  out_of_memory = -32015,
  cancelled = -32800,
  sidecar_gone = -32016,
  protocol_mismatch = -32017,
  internal = -32603,
}

--- The methods' names.
M.methods = {
  --- Does a run and answers when every process of it is gone and the audit is done. `$/cancelRequest`, `sidecar/cancel` and the end of the connection cancel it; a cancelled run is answered like any other, with `cancelled`. Give either `language` and `code`, or `command`. With `trace` the result has `phases`. Takes sidecar.RunRequest, gives sidecar.RunResult.
  run = "sidecar/run",
  --- Hands standard input to a run that was asked for with `streamStdin`; `data` is base64. Answered when the program has taken it, so that a client need not guess how much it may send; input for a run that has ended is dropped. Takes sidecar.InputParams, gives sidecar.Empty.
  input = "sidecar/input",
  --- Sends a signal (`INT`, `TERM`, `HUP`, `CONT`, …) to the process group of a run's program. `CONT` lets a program that was stopped go on in the foreground of its terminal. Takes sidecar.SignalParams, gives sidecar.Empty.
  signal = "sidecar/signal",
  --- Says that the terminal of one of the client's runs has another size now. Takes sidecar.ResizeParams, gives sidecar.Empty.
  resize = "sidecar/resize",
  --- Ends any run by its id, or one of the client's own by its token. Takes sidecar.CancelParams, gives sidecar.CancelResult.
  cancel = "sidecar/cancel",
  --- Lists the workspace's runs, for whichever client, the newest first: those of this sidecar, and from the history those before it. Without a `limit` it gives 200. Takes sidecar.RunsParams, gives sidecar.RunsResult.
  runs = "sidecar/runs",
  --- Gives all that the history keeps of a run of this workspace: what was asked for, under which policy, how it ended, what it printed or where that is. Takes sidecar.RecordParams, gives sidecar.RunRecord.
  record = "sidecar/record",
  --- Gives a part of what a run printed, also while it goes on. Ask again from `next` on until that is `total` and `live` is not set. Takes sidecar.RunOutputParams, gives sidecar.RunOutputResult.
  runOutput = "sidecar/runOutput",
  --- Lists the named sessions: interpreters that are kept between runs (`sessionName` of sidecar/run). Takes sidecar.Empty, gives sidecar.ListSessionsResult.
  listSessions = "sidecar/listSessions",
  --- Ends named sessions. A call that goes on in one ends with it. Takes sidecar.CloseSessionParams, gives sidecar.CloseSessionResult.
  closeSession = "sidecar/closeSession",
  --- Says what code can run with, and how to get what is missing. Takes sidecar.Empty, gives sidecar.EnvsResult.
  envs = "sidecar/envs",
  --- Says how the sidecar is: its workspace, who is connected, which runs go on. Takes sidecar.Empty, gives sidecar.StatusResult.
  status = "sidecar/status",
  --- Ends the sidecar: at once, its runs cancelled, or with `finish` after them. The next client that needs one starts it. A client whose protocol was refused may send this too: so a newer program takes over. Takes sidecar.StopParams, gives sidecar.Empty.
  stop = "sidecar/stop",
  --- A run begins. To every client that has not set `events` to false, and with its `token` to the one that asked for it. Takes sidecar.RunEvent.
  runStarted = "sidecar/runStarted",
  --- Output of a run, in order, and before the answer to the run. The client that asked for the run is waited for; others get what they read in time, and `dropped` says how many bytes they missed. Takes sidecar.OutputParams.
  output = "sidecar/output",
  --- Nix makes the environment of a run, which starts when it is there. To every client that has not set `events` to false, and to the one that asked for the run. Takes sidecar.Building.
  building = "sidecar/building",
  --- The environment of a run is there and its program starts; it may be said again, when the start has to be made anew. To the client that asked for the run, which keeps its terminal, and what is typed, until then. Takes sidecar.BegunParams.
  begun = "sidecar/begun",
  --- A run has ended, or could not be done. Takes sidecar.RunEvent.
  runEnded = "sidecar/runEnded",
  --- The program of a terminal was stopped, as by Ctrl-Z: the client that asked for the run may give the person's shell back until `sidecar/signal` with `CONT`. Takes sidecar.StoppedParams.
  stopped = "sidecar/stopped",
  --- A run was refused what it wanted to reach. Takes sidecar.DeniedParams.
  denied = "sidecar/denied",
  --- Asks a person something while a run waits; only clients that said `approvals` are asked, at initialize about every run or in sidecar/run about that one, all of them, and the first answer counts. `always` is written to the person's settings. Where nobody answers it is `no`. Takes sidecar.Question, gives sidecar.ApproveResult.
  approve = "sidecar/approve",
  --- The guard or the audit found something that host programs would obey. Takes sidecar.FindingParams.
  finding = "sidecar/finding",
  --- A line of the sidecar's log, to clients that asked for its level with `log`. `sidecar lsp` sends it on as `window/logMessage`. A client that does not read misses lines. Takes sidecar.LogParams.
  log = "sidecar/log",
  --- Says which folders the editor has open, and which sidecar each has. Takes sidecar.Empty, gives sidecar.WorkspacesResult.
  workspaces = "sidecar/workspaces",
  --- The project has a sidecar that is connected, or no longer: then it died, and another one is started at once, or it was stopped, and the next request starts one. What the editor asked of the old one was answered with `sidecar_gone`. Takes sidecar.ConnectionParams.
  connection = "sidecar/connection",
}

return M
