//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// client is the smallest MCP client: one request at a time.
type client struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	id  int
	// start is how the last run was started.
	start string
}

// warmth is the setting performance.warm of the clients that are dialled. What is compared with plain bubblewrap call by
// call is a run that starts its own sandbox.
var warmth = "off"

// dialWarm is dial for runs that find a sandbox ready.
func dialWarm(binary, ws string) (*client, error) {
	warmth = "auto"
	defer func() { warmth = "off" }()
	return dial(binary, ws)
}

// dial starts `sidecar mcp` for a workspace and introduces itself.
func dial(binary, ws string, flags ...string) (*client, error) {
	cmd := exec.Command(binary, append([]string{"mcp", "--workspace", ws}, flags...)...)
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), "SIDECAR_PERFORMANCE_WARM="+warmth)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &client{cmd: cmd, in: in, out: bufio.NewReader(out)}
	_, err = c.call("initialize", map[string]any{
		"protocolVersion": "2025-06-18", "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "bench", "version": "1"},
	})
	if err == nil {
		err = c.send(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
	}
	return c, err
}

func (c *client) send(message any) error {
	b, err := json.Marshal(message)
	if err != nil {
		return err
	}
	_, err = c.in.Write(append(b, '\n'))
	return err
}

// call sends a request and waits for its answer.
func (c *client) call(method string, params any) (json.RawMessage, error) {
	c.id++
	if err := c.send(map[string]any{"jsonrpc": "2.0", "id": c.id, "method": method, "params": params}); err != nil {
		return nil, err
	}
	for {
		line, err := c.out.ReadBytes('\n')
		if err != nil {
			return nil, fmt.Errorf("%s: %w", method, err)
		}
		var answer struct {
			ID     *int
			Result json.RawMessage
			Error  json.RawMessage
		}
		if err := json.Unmarshal(line, &answer); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", method, line, err)
		}
		if answer.ID == nil || *answer.ID != c.id {
			continue
		}
		if answer.Error != nil {
			return nil, fmt.Errorf("%s: %s", method, answer.Error)
		}
		return answer.Result, nil
	}
}

// pass runs the shortest Python program.
func (c *client) pass() error { return c.run("python", "pass") }

// nothing runs the shortest program there is.
func (c *client) nothing() error { return c.run("bash", ":") }

func (c *client) run(language, code string) error { return c.runIn(language, code, "") }

// runIn runs code in an environment, "" for the default.
func (c *client) runIn(language, code, environment string) error {
	arguments := map[string]any{"language": language, "code": code}
	if environment != "" {
		arguments["environment"] = environment
	}
	return c.runCode(arguments)
}

// runWith runs code with packages from Nix.
func (c *client) runWith(language, code string, packages []string) error {
	return c.runCode(map[string]any{"language": language, "code": code, "packages": packages})
}

func (c *client) runCode(arguments map[string]any) error {
	_, err := c.do(arguments)
	return err
}

// ran is what is looked at of a run's result.
type ran struct {
	ID       string
	ExitCode *int
	Stdout   struct{ Text string }
}

// do calls run_code; a program that fails is an error.
func (c *client) do(arguments map[string]any) (ran, error) {
	raw, err := c.call("tools/call", map[string]any{"name": "run_code", "arguments": arguments})
	if err != nil {
		return ran{}, err
	}
	var result struct {
		IsError           bool
		StructuredContent ran
		Meta              struct {
			Start string `json:"code.sidecar.dev/start"`
		} `json:"_meta"`
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		return ran{}, err
	}
	if code := result.StructuredContent.ExitCode; result.IsError || code == nil || *code != 0 {
		return ran{}, fmt.Errorf("run_code: %s", raw)
	}
	c.start = result.Meta.Start
	return result.StructuredContent, nil
}

func (c *client) close() {
	_ = c.in.Close()
	_ = c.cmd.Wait()
}
