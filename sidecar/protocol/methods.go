package protocol

import "time"

//go:generate go test . -run TestProtocolDocument -update

// Method is one method of the channel, with an example.
type Method struct {
	Name string
	// FromSidecar says that the sidecar sends it; else clients do.
	FromSidecar bool
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
	end := RunEnd{Time: started.Add(61 * time.Millisecond), Duration: Duration(61 * time.Millisecond), MaxRSS: 9 << 20, Stdout: 3}
	ended := run
	ended.End = &end
	finding := Finding{Path: "/home/me/project/sub/.envrc", Reason: "direnv executes it on entering the folder", Action: Disarmed, MovedTo: "/home/me/project/sub/.envrc.disarmed-" + id}
	build := Build{Version: "v0.2.0", Time: started.Add(-240 * time.Hour)}
	return []Method{
		{Name: MethodRun, Request: true,
			About:  "Does a run and answers when every process of it is gone and the audit is done. `$/cancelRequest`, `sidecar/cancel` and the end of the connection cancel it; a cancelled run is answered like any other, with `cancelled`. Give either `language` and `code`, or `command`.",
			Params: RunRequest{RunParams: RunParams{Language: "python", Code: "print(6 * 7)", Timeout: Duration(10 * time.Second)}, Token: "r1"},
			Result: RunResult{ID: id, Stdout: Output{Text: "42\n", Bytes: 3}, Duration: Duration(61 * time.Millisecond), MaxRSS: 9 << 20, Workspace: "/home/me/project", Environment: "host", Interpreter: "/usr/bin/python3.11"}},
		{Name: MethodInput, Request: true,
			About:  "Hands standard input to a run that was asked for with `streamStdin`; `data` is base64. Answered when the program has taken it, so that a client need not guess how much it may send; input for a run that has ended is dropped.",
			Params: InputParams{Token: "r1", Data: []byte("a line\n"), End: true}, Result: Empty{}},
		{Name: MethodCancel, Request: true, About: "Ends any run by its id, or one of the client's own by its token.",
			Params: CancelParams{ID: id}, Result: CancelResult{Cancelled: true}},
		{Name: MethodRuns, Request: true, About: "Lists the runs that this sidecar did, for whichever client, the newest first. It remembers 200 that have ended.",
			Params: RunsParams{Limit: 10}, Result: RunsResult{Runs: []Run{ended}}},
		{Name: MethodRunOutput, Request: true, About: "Gives a part of what a run printed, also while it goes on. Ask again from `next` on until that is `total` and `live` is not set.",
			Params: RunOutputParams{ID: id, Stream: Stdout}, Result: RunOutputResult{Text: "42\n", Next: 3, Total: 3}},
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
		{Name: MethodRunEnded, FromSidecar: true, About: "A run has ended, or could not be done.", Params: RunEvent{Run: ended}},
		{Name: MethodFinding, FromSidecar: true, About: "The guard or the audit found something that host programs would obey.", Params: FindingParams{ID: id, Finding: finding}},
	}
}

// Kinds are all kinds of error, in the order in which they are declared.
func Kinds() []ErrorKind {
	return []ErrorKind{BadRequest, UnknownEnvironment, BuildFailed, Denied, BackendMissing, TimedOut, OutOfMemory, Cancelled, Gone, Outdated, Internal}
}
