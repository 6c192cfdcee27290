package remote

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"code.sidecar.dev/sidecar/env/host"
	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/workspace/linked"
)

// Host is another machine, and how it is reached.
type Host struct {
	// Name is what the person's ssh knows it by: a host or user@host, or a ssh:// URL.
	Name string
	// Program is sidecar there; empty is "sidecar", on the PATH that ssh gives to commands. ~/ is the home folder there.
	Program string
	// Machine is this one, which says where ssh is; without a PATH it is looked for on the process's own.
	Machine host.Machine
	// Batch has ssh ask for nothing: no password, no passphrase, no unknown key.
	Batch bool

	// beat is how often a sign of life is due, in tests; 0 is beatEvery.
	beat time.Duration
}

// options are ssh's: what may stand in the person's configuration for their own logins and would be in the way, as scp(1) has
// it (scp.c), and no terminal, which the far side makes itself.
var options = []string{"-T", "-x", "-oPermitLocalCommand=no", "-oClearAllForwardings=yes", "-oRemoteCommand=none", "-oRequestTTY=no"}

// started runs ssh with the signals of a terminal ignored, which it inherits: Ctrl-C is a word to the command, over the
// connection that it would end. Its process group stays the terminal's, where ssh may ask for a password.
const started = `trap '' INT QUIT TERM; exec "$0" "$@"`

// command is ssh, ready to start.
func (h Host) command() (*exec.Cmd, error) {
	if err := checkName(h.Name); err != nil {
		return nil, err
	}
	if h.Machine.Path == "" {
		h.Machine = host.This("")
	}
	ssh, ok := host.Tool(h.Machine, "ssh")
	if !ok {
		return nil, &protocol.Error{Kind: protocol.BackendMissing, Message: "--host: no ssh to reach " + h.Name + " with is on PATH where no runs write", Hint: "install it (Debian, Ubuntu: apt-get install openssh-client) and have it on your PATH"}
	}
	args := append([]string{"-c", started, ssh}, options...)
	if h.Batch {
		args = append(args, "-oBatchMode=yes")
	}
	cmd := exec.Command("/bin/sh", append(args, "--", h.Name, h.program()+" connect")...)
	cmd.Env = append(os.Environ(), "PATH="+host.SearchPath(h.Machine)) // a ProxyCommand looks for others
	return cmd, nil
}

// program is sidecar there as a word of a POSIX shell.
func (h Host) program() string {
	switch rest, inHome := strings.CutPrefix(h.Program, "~/"); {
	case h.Program == "":
		return "sidecar"
	case inHome:
		return "~/" + linked.ShellQuote(rest)
	}
	return linked.ShellQuote(h.Program)
}

// checkName refuses what ssh before 9.6 would take for an option, or hand to a shell of this machine where a configuration
// has %h in a ProxyCommand (CVE-2023-51385). The characters are those that ssh 9.6 refuses in names (ssh.c, valid_hostname).
func checkName(name string) error {
	odd := func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune("'`\"$\\;&<>|(){}", r) }
	_, host, _ := strings.Cut(name, "@")
	if name == "" || name[0] == '-' || strings.HasPrefix(host, "-") || strings.ContainsFunc(name, odd) {
		return &protocol.Error{Kind: protocol.BadRequest, Message: fmt.Sprintf("--host %q is no name of a host", name), Hint: "give HOST or USER@HOST, as for ssh; paths and options belong elsewhere (--workspace, your ~/.ssh/config)"}
	}
	return nil
}

// maxNoise bounds what a host may print before its greeting, in bytes.
const maxNoise = 64 << 10

// greeted reads up to the greeting; noise is what came before it.
func greeted(r *bufio.Reader) (noise string, err error) {
	for len(noise) <= maxNoise {
		line, err := r.ReadSlice('\n')
		text := string(line)
		if at := strings.LastIndex(text, opening); at >= 0 && strings.HasSuffix(text, "\n") {
			if text[at:] != greeting {
				return noise, outdated(text[at:])
			}
			return noise, nil
		}
		noise += text
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return noise, err
		}
	}
	return noise, errors.New("too much that is no greeting")
}

func outdated(theirs string) error {
	return &protocol.Error{Kind: protocol.Outdated, Message: fmt.Sprintf("the sidecar there says %q, this one %q", strings.TrimSpace(theirs), strings.TrimSpace(greeting)), Hint: "have the same version on both machines"}
}

// unreached says why there was no greeting, by ssh's exit status and by what the host printed in its place.
func (h Host) unreached(ctx context.Context, status int, noise string, err error) error {
	var known *protocol.Error
	program := h.Program
	if program == "" {
		program = "sidecar"
	}
	switch {
	case ctx.Err() != nil:
		return &protocol.Error{Kind: protocol.Cancelled, Message: "cancelled, before " + h.Name + " was reached", Err: ctx.Err()}
	case errors.As(err, &known):
		return known
	case errors.Is(err, io.EOF) && (status == 255 || status > 128):
		hint := fmt.Sprintf("ssh itself says why, above; try: ssh %s true", h.Name)
		if h.Batch {
			hint += "\nnobody can be asked for a password here: it takes a key, an agent, or a connection that is open (ControlMaster)"
		}
		return &protocol.Error{Kind: protocol.Gone, Message: fmt.Sprintf("ssh did not reach %s (its exit status is %d)", h.Name, status), Hint: hint}
	case status == 127 || status == 126:
		return &protocol.Error{Kind: protocol.BackendMissing, Message: fmt.Sprintf("%s has no %s to start", h.Name, program), Hint: fmt.Sprintf("install sidecar there, in a folder of the PATH that this prints: ssh %s 'echo $PATH'\nor name its file: --host-program ~/bin/sidecar, or hosts.program in your settings", h.Name)}
	}
	message := fmt.Sprintf("%s connect on %s ended with status %d and said nothing that this sidecar understands", program, h.Name, status)
	if noise = strings.TrimSpace(noise); noise != "" {
		message += fmt.Sprintf(": %.200q", noise)
	}
	return &protocol.Error{Kind: protocol.Outdated, Message: message, Hint: "the sidecar there is too old for --host, or it is another program: have the same version on both machines"}
}
