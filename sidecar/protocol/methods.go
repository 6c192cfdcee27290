package protocol

import "time"

//go:generate go test . -run ^Test(ProtocolDocument|TypeScript|Lua)$ -update

// Method is one method of the channel, with an example.
type Method struct {
	Name string
	// FromSidecar says that the sidecar sends it; else clients do.
	FromSidecar bool
	// Editor says that it is one of `sidecar lsp` and its editor, which no sidecar knows.
	Editor bool
	// Request says that it is answered; else it is a notification.
	Request bool
	// About says what it is for.
	About string
	// Params and Result are examples; Result is nil for a notification.
	Params, Result any
}

// Methods are all methods, in the order in which a reader meets them.
func Methods() []Method {
	id, started := "20261129-201501-7c41b2aa", time.Date(2026, 11, 29, 20, 15, 1, 0, time.UTC)
	run := Run{ID: id, Client: "claude-code 2.1", Language: "python", Code: "print(6 * 7)", CodeBytes: 12, Started: started}
	mine := run
	mine.Token = "r1"
	end := RunEnd{Time: started.Add(61 * time.Millisecond), Duration: Duration(61 * time.Millisecond), MaxRSS: 9 << 20, CPU: Duration(18 * time.Millisecond), Stdout: 3}
	ended := run
	ended.End = &end
	past := ended
	past.Workspace = "/home/me/project"
	finding := Finding{Path: "/home/me/project/sub/.envrc", Reason: "direnv executes it on entering the folder", Action: Disarmed, MovedTo: "/home/me/project/sub/.envrc.disarmed-" + id}
	kept := NamedSession{Name: "analysis", Language: "python", Environment: "host", Interpreter: "/usr/bin/python3.11", Client: "claude-code 2.1", Started: started, Used: started.Add(time.Minute), Calls: 3}
	build := Build{Version: "v0.2.0", Time: started.Add(-240 * time.Hour)}
	return []Method{
		{Name: MethodRun, Request: true,
			About:  "Does a run and answers when every process of it is gone and the audit is done. `$/cancelRequest`, `sidecar/cancel` and the end of the connection cancel it; a cancelled run is answered like any other, with `cancelled`. Give either `language` and `code`, or `command`. With `trace` the result has `phases`.",
			Params: RunRequest{RunParams: RunParams{Language: "python", Code: "print(6 * 7)", Timeout: Duration(10 * time.Second)}, Token: "r1"},
			Result: RunResult{ID: id, Stdout: Output{Text: "42\n", Bytes: 3}, Duration: Duration(61 * time.Millisecond), MaxRSS: 9 << 20, Workspace: "/home/me/project", Environment: "host", Interpreter: "/usr/bin/python3.11"}},
		{Name: MethodInput, Request: true,
			About:  "Hands standard input to a run that was asked for with `streamStdin`; `data` is base64. Answered when the program has taken it, so that a client need not guess how much it may send; input for a run that has ended is dropped.",
			Params: InputParams{Token: "r1", Data: []byte("a line\n"), End: true}, Result: Empty{}},
		{Name: MethodSignal, Request: true, About: "Sends a signal (`INT`, `TERM`, `HUP`, `CONT`, …) to the process group of a run's program. `CONT` lets a program that was stopped go on in the foreground of its terminal.",
			Params: SignalParams{Token: "r1", Signal: "INT"}, Result: Empty{}},
		{Name: MethodResize, Request: true, About: "Says that the terminal of one of the client's runs has another size now.",
			Params: ResizeParams{Token: "r1", Rows: 40, Columns: 120}, Result: Empty{}},
		{Name: MethodCancel, Request: true, About: "Ends any run by its id, or one of the client's own by its token.",
			Params: CancelParams{ID: id}, Result: CancelResult{Cancelled: true}},
		{Name: MethodRuns, Request: true, About: "Lists the workspace's runs, for whichever client, the newest first: those of this sidecar, and from the history those before it. Without a `limit` it gives 200.",
			Params: RunsParams{Limit: 10}, Result: RunsResult{Runs: []Run{ended}}},
		{Name: MethodRecord, Request: true, About: "Gives all that the history keeps of a run of this workspace: what was asked for, under which policy, how it ended, what it printed or where that is.",
			Params: RecordParams{ID: id}, Result: RunRecord{Run: past, Request: RunParams{Language: "python", Code: "print(6 * 7)", Timeout: Duration(10 * time.Second)}, Keep: "full", Environment: RecordedEnvironment{ID: "host", Provider: "host"}, Interpreter: "/usr/bin/python3.11",
				Policy: "ro /usr\nrw /home/me/project\nnetwork none\n", Stdout: RecordedOutput{Bytes: 3, Text: "42\n"}}},
		{Name: MethodRunOutput, Request: true, About: "Gives a part of what a run printed, also while it goes on. Ask again from `next` on until that is `total` and `live` is not set.",
			Params: RunOutputParams{ID: id, Stream: Stdout}, Result: RunOutputResult{Text: "42\n", Next: 3, Total: 3}},
		{Name: MethodListSessions, Request: true, About: "Lists the named sessions: interpreters that are kept between runs (`sessionName` of sidecar/run).", Params: Empty{}, Result: ListSessionsResult{Sessions: []NamedSession{kept}}},
		{Name: MethodCloseSession, Request: true, About: "Ends named sessions. A call that goes on in one ends with it.", Params: CloseSessionParams{Name: "analysis"}, Result: CloseSessionResult{Closed: []NamedSession{kept}}},
		{Name: MethodEnvs, Request: true, About: "Says what code can run with, and how to get what is missing.",
			Params: Empty{}, Result: EnvsResult{Environments: []Environment{{ID: "host", Provider: "host",
				Languages: []Language{{Name: "python", Aliases: []string{"py", "python3"}, Version: "3.11.2", Program: "/usr/bin/python3.11", Via: "PATH"}},
				Missing:   []MissingLanguage{{Name: "julia", Hint: "install it from https://julialang.org/downloads"}}}}}},
		{Name: MethodStatus, Request: true, About: "Says how the sidecar is: its workspace, who is connected, which runs go on.",
			Params: Empty{}, Result: StatusResult{Workspace: "/home/me/project", Branch: "main", PID: 4711, Socket: "/run/user/1000/sidecar/2f1edea134bf353a.sock", Build: build, Started: started,
				Memory: 18 << 20, Clients: []Client{{Name: "nvim", Version: "0.10.4", PID: 4700, Since: started}}, Runs: []Run{run}, RunsBefore: 12}},
		{Name: MethodStop, Request: true, About: "Ends the sidecar: at once, its runs cancelled, or with `finish` after them. The next client that needs one starts it. A client whose protocol was refused may send this too: so a newer program takes over.",
			Params: StopParams{Finish: true}, Result: Empty{}},
		{Name: MethodRunStarted, FromSidecar: true, About: "A run begins. To every client that has not set `events` to false, and with its `token` to the one that asked for it.", Params: RunEvent{Run: mine}},
		{Name: MethodOutput, FromSidecar: true, About: "Output of a run, in order, and before the answer to the run. The client that asked for the run is waited for; others get what they read in time, and `dropped` says how many bytes they missed.", Params: OutputParams{ID: id, Token: "r1", Stream: Stdout, Text: "42\n"}},
		{Name: MethodBuilding, FromSidecar: true, About: "Nix makes the environment of a run, which starts when it is there. To every client that has not set `events` to false, and to the one that asked for the run.",
			Params: Building{ID: id, Token: "r1", Environment: "python3 with ripgrep", Stage: "fetching", Name: "ripgrep-14.1.0", Done: 3, Total: 12}},
		{Name: MethodBegun, FromSidecar: true, About: "The environment of a run is there and its program starts; it may be said again, when the start has to be made anew. To the client that asked for the run, which keeps its terminal, and what is typed, until then.",
			Params: BegunParams{ID: id, Token: "r1"}},
		{Name: MethodRunEnded, FromSidecar: true, About: "A run has ended, or could not be done.", Params: RunEvent{Run: ended}},
		{Name: MethodStopped, FromSidecar: true, About: "The program of a terminal was stopped, as by Ctrl-Z: the client that asked for the run may give the person's shell back until `sidecar/signal` with `CONT`.",
			Params: StoppedParams{ID: id, Token: "r1", Signal: "TSTP"}},
		{Name: MethodDenied, FromSidecar: true, About: "A run was refused what it wanted to reach.",
			Params: DeniedParams{ID: id, Denial: Denial{Host: "example.com", Port: 443, Why: "no rule allows example.com", Setting: "network.allowed_domains: [example.com]"}}},
		{Name: MethodApprove, FromSidecar: true, Request: true, About: "Asks a person something while a run waits; only clients that said `approvals` are asked, at initialize about every run or in sidecar/run about that one, all of them, and the first answer counts. `always` is written to the person's settings. Where nobody answers it is `no`.",
			Params: Question{ID: "1", Run: id, Client: "claude-code 2.1", Kind: AskNetwork, Subject: "example.com:443", Text: "may this run reach example.com:443?", Setting: "network.allowed_domains: [example.com]", Writes: "network.approved: [example.com]", File: "/home/me/.config/sidecar/config.yaml"}, Result: ApproveResult{Answer: Once}},
		{Name: MethodFinding, FromSidecar: true, About: "The guard or the audit found something that host programs would obey.", Params: FindingParams{ID: id, Finding: finding}},
		{Name: MethodLog, FromSidecar: true, About: "A line of the sidecar's log, to clients that asked for its level with `log`. `sidecar lsp` sends it on as `window/logMessage`. A client that does not read misses lines.",
			Params: LogParams{Time: started, Level: "info", Text: "run ended run=" + id + " client=terminal language=python environment=host start=warm exit=0 duration=61ms"}},
		{Name: MethodWorkspaces, Editor: true, Request: true, About: "Says which folders the editor has open, and which sidecar each has.", Params: Empty{},
			Result: WorkspacesResult{Workspaces: []Workspace{{Folder: "file:///home/me/project", Name: "project", Root: "/home/me/project", About: &About{Protocol: Version, Build: build, Workspace: "/home/me/project", PID: 4711}}}}},
		{Name: MethodConnection, Editor: true, FromSidecar: true, About: "The project has a sidecar that is connected, or no longer: then it died, and another one is started at once, or it was stopped, and the next request starts one. What the editor asked of the old one was answered with `sidecar_gone`.",
			Params: ConnectionParams{Workspace: "/home/me/project", Connected: true, PID: 4711}},
	}
}

// Kinds are all kinds of error, in the order in which they are declared.
func Kinds() []ErrorKind {
	return []ErrorKind{BadRequest, UnknownEnvironment, BuildFailed, Denied, BackendMissing, TimedOut, OutOfMemory, Cancelled, Gone, Outdated, Internal}
}
