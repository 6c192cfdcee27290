package mcp

import (
	_ "embed" // for the schemas
	"encoding/json"
	"strings"

	"code.sidecar.dev/sidecar/env"
	"code.sidecar.dev/sidecar/protocol"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// The schemas are written by hand: those that mcp-go reflects from Go types say ["null", "array"].
var (
	//go:embed schema/run_code.input.json
	runCodeInput string
	//go:embed schema/run_code.output.json
	runCodeOutput string
	//go:embed schema/list_envs.output.json
	listEnvsOutput string
)

const listEnvsInput = `{"type": "object", "properties": {}, "additionalProperties": false}`

// cacheTools is how long a client may keep the list of tools, in milliseconds; it changes only with the program.
const cacheTools = 5 * 60 * 1000

// rules are what models have to know of the sandbox before they write code for it.
var rules = []string{
	"The workspace (the project's folder) is mounted read-write at its own path and is the working folder. What you change in it stays.",
	"git works: status, diff, add, commit, branch, stash, rebase. Name and e-mail are those of the user's git, if set there. Credentials are not there: push and fetch over the network fail.",
	"Read-only, because programs outside the sandbox execute or obey them: git config and hooks, pointers of worktrees and submodules, and files such as .envrc, .vscode, .mcp.json, .claude. If one has to change, tell the user what to change and why.",
	"Network: none but for names that the user allows, in the settings or when asked; loopback inside the run works. A result says what was denied. Where pip install, npm install, curl and the like fail, use what is installed, or ask the user.",
	"The home folder is empty and gone after the run; /tmp is private. Nothing else of the user's files is visible. Keep results in the workspace.",
	"All processes end with the run: nothing stays in the background, but in a session (argument session), which keeps its interpreter between calls.",
	"Time, memory, processes, file size and output are limited; a result names the limit that ended a run.",
}

// instructions is what clients put before every conversation, so it is short; the tools have the rules.
const instructions = "run_code runs code and commands in a sandbox in the user's project: the project can be changed, nothing else can, and the network is closed but for what the user allows. Use it for whatever has to be run; list_envs says what with."

const runCodeAbout = `Run code in a fresh OS sandbox in the user's project and get its output and exit status. Call list_envs for the languages that are installed here.

%s
A program's exit status other than 0 is a normal result, not a tool error; tool errors say what to do. Long output is cut to its head and tail and names a file and a resource with the whole.`

const listEnvsAbout = `List what code can run with on this machine: environments, their languages with versions, the languages that are missing and how the user can get them, and the rules of the sandbox. Call it before the first run_code.`

// newServer is mcp-go's server with our tools.
func newServer(c *conn) *server.MCPServer {
	s := server.NewMCPServer(c.o.Name, c.o.Version,
		server.WithToolCapabilities(false),
		server.WithResourceCapabilities(false, false),
		server.WithInstructions(instructions),
		server.WithMethodCacheHints(mcp.MethodToolsList, cacheTools, mcp.CacheScopePrivate),
		server.WithMethodCacheHints(mcp.MethodResourcesTemplatesList, cacheTools, mcp.CacheScopePrivate),
		server.WithMethodCacheHints(mcp.MethodResourcesList, cacheTools, mcp.CacheScopePrivate),
		server.WithMethodCacheHints(mcp.MethodResourcesRead, cacheTools, mcp.CacheScopePrivate), // a run's output stays as it is
		// Codex sends its folder with each call only to a server that declares this.
		server.WithExperimental(map[string]any{codexKey: map[string]any{}}),
	)
	s.AddTool(runCodeTool(), c.runCode)
	s.AddTool(listEnvsTool(), c.listEnvs)
	s.AddTool(listSessionsTool(), c.listSessions)
	s.AddTool(closeSessionTool(), c.closeSession)
	s.AddResourceTemplate(mcp.NewResourceTemplate(outputTemplate, "run output", mcp.WithTemplateDescription(outputAbout), mcp.WithTemplateMIMEType("text/plain")), c.outputs.read)
	s.AddResourceTemplate(mcp.NewResourceTemplate(logTemplate, "build log", mcp.WithTemplateDescription(logAbout), mcp.WithTemplateMIMEType("text/plain")), c.outputs.read)
	return s
}

func runCodeTool() mcp.Tool {
	t := tool("run_code", strings.Replace(runCodeAbout, "%s", bullets(rules), 1), withLanguages(runCodeInput), runCodeOutput)
	t.Annotations = mcp.ToolAnnotation{
		Title:        "Run code in the project's sandbox",
		ReadOnlyHint: mcp.ToBoolPtr(false),
		// Code can overwrite or delete files of the workspace. We still say false: the hint tells a client whether
		// to hold a call back for a person, and a run reaches no further than the edits that these clients let
		// their agents make in the same folder unasked. What would reach further, later or elsewhere (hooks,
		// config, other files, the network) is what the sandbox holds off.
		DestructiveHint: mcp.ToBoolPtr(false),
		IdempotentHint:  mcp.ToBoolPtr(false),
		// There is no network but for what the person names, so no open world.
		OpenWorldHint: mcp.ToBoolPtr(false),
	}
	return t
}

func listEnvsTool() mcp.Tool {
	t := tool("list_envs", listEnvsAbout, listEnvsInput, listEnvsOutput)
	t.Annotations = mcp.ToolAnnotation{
		Title:           "List languages and the sandbox's rules",
		ReadOnlyHint:    mcp.ToBoolPtr(true),
		DestructiveHint: mcp.ToBoolPtr(false),
		IdempotentHint:  mcp.ToBoolPtr(true),
		OpenWorldHint:   mcp.ToBoolPtr(false),
	}
	return t
}

func tool(name, about, input, output string) mcp.Tool {
	t := mcp.NewToolWithRawSchema(name, about, json.RawMessage(input))
	t.RawOutputSchema = json.RawMessage(output)
	return t
}

// withLanguages puts the names of the table of languages into a schema.
func withLanguages(schema string) string {
	names := make([]string, len(env.Languages))
	for i, lang := range env.Languages {
		names[i] = lang.Name
	}
	list, err := json.Marshal(names)
	if err != nil {
		panic(err) // strings always encode
	}
	return strings.Replace(schema, `["@languages"]`, string(list), 1)
}

// bullets are sentences, a line each: what one quotes, such as a file's name that a run chose, begins none.
func bullets(sentences []string) string {
	lines := make([]string, len(sentences))
	for i, s := range sentences {
		lines[i] = "- " + protocol.OneLine(s)
	}
	return strings.Join(lines, "\n")
}
