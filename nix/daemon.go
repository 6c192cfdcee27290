package nix

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Where Nix's daemon listens (nix-daemon(8)), below its state folder.
const (
	stateFolder = "/nix/var/nix"
	// DaemonSocket is where programs of Nix look for it if no variable names another place.
	DaemonSocket = stateFolder + "/daemon-socket/socket"
)

// SocketOf is where the daemon listens, by the variables that Nix's own programs go by.
func SocketOf(getenv func(string) string) string {
	if socket := getenv("NIX_DAEMON_SOCKET_PATH"); filepath.IsAbs(socket) {
		return socket
	}
	if state := getenv("NIX_STATE_DIR"); filepath.IsAbs(state) {
		return filepath.Join(state, "daemon-socket/socket")
	}
	return DaemonSocket
}

// DaemonError says why Nix's daemon cannot be handed to a run.
type DaemonError struct {
	Reason, Hint string
	Err          error
}

// Error has the hint on a line of its own.
func (e *DaemonError) Error() string { return e.Reason + "\n" + e.Hint }

// Unwrap is what Nix said.
func (e *DaemonError) Unwrap() error { return e.Err }

// confined remembers that the daemon was found to be safe.
type confined struct {
	mu    sync.Mutex
	at    time.Time
	stamp string
}

// Of how long ago it counts, if the daemon's settings and its socket are the same, and how long finding out may take.
const (
	confinedFor  = 10 * time.Minute
	confinedWait = time.Minute
)

// Confined finds out whether a run that can speak to the daemon with this person's rights stays confined: whatever it has
// built is built in the daemon's own sandbox, with neither root's rights nor the person's. The error is a *DaemonError. What
// holds is asked of the daemon itself, by builds, since its settings can be anywhere.
func (s *Store) Confined(ctx context.Context, socket string) error {
	if os.Geteuid() == 0 {
		return &DaemonError{Reason: "you are root, whom Nix's daemon trusts: a run could have it build without a sandbox", Hint: "run sidecar as an ordinary user"}
	}
	info, err := os.Stat(socket)
	if err != nil || info.Mode()&os.ModeSocket == 0 {
		return &DaemonError{Reason: fmt.Sprintf("Nix's daemon does not listen at %s", socket), Hint: "start it (systemctl enable --now nix-daemon.socket); a Nix for one user alone has none", Err: err}
	}
	conf := s.confFolder()
	owner := info.Sys().(*syscall.Stat_t)
	stamp := fmt.Sprint(socket, owner.Ino, info.ModTime().UnixNano(), stampOf(filepath.Join(conf, "nix.conf")), stampOf(filepath.Join(conf, "nix.custom.conf")))
	s.confined.mu.Lock()
	defer s.confined.mu.Unlock()
	if s.confined.stamp == stamp && time.Since(s.confined.at) < confinedFor {
		return nil
	}
	if err := rightsOfBuilders(int(owner.Uid), os.Geteuid(), confOf(filepath.Join(conf, "nix.conf"))); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, confinedWait, errors.New("it does not answer"))
	defer cancel()
	if err := judge(func(p probe) (outcome, error) { return s.probe(ctx, p) }); err != nil {
		return err
	}
	s.confined.at, s.confined.stamp = time.Now(), stamp
	return nil
}

// rightsOfBuilders refuses a daemon whose builders have the rights of root or of the person: those without a network of their own
// (fixed-output derivations have the machine's) could use them.
func rightsOfBuilders(daemon, person int, conf map[string]string) error {
	group, set := conf["build-users-group"]
	switch {
	case daemon == person:
		return &DaemonError{Reason: "Nix's daemon runs as yourself: what it builds has your rights", Hint: "install Nix for many users, whose daemon is root's"}
	case daemon == 0 && set && group == "" && conf["auto-allocate-uids"] != "true":
		return &DaemonError{Reason: "Nix's daemon builds as root (build-users-group is empty in its nix.conf)", Hint: "name a group of build users there (nixbld), and restart the daemon"}
	}
	return nil
}

// probe is a build that tells where it is.
type probe struct {
	// bare asks to be built without a sandbox, which a daemon allows whose sandbox is off or relaxed.
	bare bool
	// off has the client ask for no sandbox, which a daemon does for those it trusts.
	off bool
}

// outcome is what came of a probe.
type outcome int

const (
	builtInside  outcome = iota // it was built in a sandbox
	builtOutside                // it was built outside of one
	notBuilt                    // it was not built, since it asked for no sandbox
)

// judge finds out by probes what the daemon would do.
func judge(ask func(probe) (outcome, error)) error {
	unknown := func(err error) error {
		return &DaemonError{Reason: "whether Nix's daemon keeps what it builds in a sandbox cannot be found out: " + firstLine(err), Hint: "see to it that `nix build --store daemon` works for you (allowed-users, max-jobs and build-users-group in the daemon's nix.conf)", Err: err}
	}
	bare, err := ask(probe{bare: true, off: true})
	if err != nil {
		return unknown(err)
	}
	if bare != notBuilt {
		return whyOutside(ask)
	}
	plain, err := ask(probe{off: true})
	if err != nil {
		return unknown(err)
	}
	if plain != builtInside {
		return &DaemonError{Reason: "the sandbox of Nix's daemon does not work on this machine, and it builds without one (sandbox-fallback)", Hint: "set sandbox-fallback = false in the daemon's nix.conf, and find out why its sandbox does not work"}
	}
	return nil
}

// whyOutside says which of two reasons it is that something is built outside of the daemon's sandbox.
func whyOutside(ask func(probe) (outcome, error)) error {
	if got, err := ask(probe{bare: true}); err == nil && got == notBuilt {
		return &DaemonError{Reason: "Nix's daemon trusts you: a run could have it build without a sandbox, as root", Hint: "take yourself and your groups out of trusted-users in its nix.conf, and restart it"}
	}
	return &DaemonError{Reason: "Nix's daemon builds without a sandbox, or lets builds ask for none", Hint: "set sandbox = true in its nix.conf, and restart it"}
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// probeExpression is a build that looks for what only the machine itself has: the store's own folder and Nix's state. Its
// shell is the machine's, or that which a Nix was compiled to have in its sandbox.
const probeExpression = `{ system, nonce, bare }: derivation ({
  name = "sidecar-probe"; inherit system nonce; builder = "/bin/sh";
  args = [ "-c" "if [ -e ` + stateFolder + ` ] || [ -e /nix/store/.links ]; then echo outside; else echo inside; fi >$out" ];
} // (if bare == "yes" then { __noChroot = true; } else { }))`

// noShell is what a builder says in a sandbox that has no shell; on the machine itself there always is one.
const noShell = "executing '/bin/sh': No such file or directory"

// probe has the daemon build one, anew each time.
func (s *Store) probe(ctx context.Context, p probe) (outcome, error) {
	answer := map[bool]string{true: "yes", false: "no"}
	args := []string{"build", "--store", "daemon", "--json", "--no-link", "--option", "substituters", "", "--option", "builders", "", "--option", "max-jobs", "1"}
	if p.off {
		args = append(args, "--option", "sandbox", "false")
	}
	args = append(args, "--expr", probeExpression, "--argstr", "system", System(), "--argstr", "nonce", rand.Text(), "--argstr", "bare", answer[p.bare])
	out, err := s.nix(ctx, job{what: "a probe of Nix's daemon"}, args...)
	if err != nil {
		return probeFailed(err)
	}
	var results []struct{ Outputs map[string]string }
	if err := json.Unmarshal(out, &results); err != nil || len(results) != 1 || !storePath().MatchString(results[0].Outputs["out"]) {
		return 0, errors.New("nix build --json printed no path")
	}
	text, err := os.ReadFile(results[0].Outputs["out"])
	switch strings.TrimSpace(string(text)) {
	case "inside":
		return builtInside, err
	case "outside":
		return builtOutside, err
	}
	return 0, errors.Join(errors.New("the probe printed something else"), err)
}

// probeFailed reads what stands against a probe.
func probeFailed(err error) (outcome, error) {
	var build *BuildError
	switch {
	case strings.Contains(err.Error(), "'__noChroot' set, but that's not allowed"):
		return notBuilt, nil
	case errors.As(err, &build) && strings.Contains(strings.Join(build.Tail, "\n"), noShell):
		return builtInside, nil
	}
	return 0, err
}

// confFolder is where the machine's nix.conf is.
func (s *Store) confFolder() string {
	for _, assignment := range s.environ {
		if dir, ok := strings.CutPrefix(assignment, "NIX_CONF_DIR="); ok && filepath.IsAbs(dir) {
			return dir
		}
	}
	return "/etc/nix"
}

// stampOf changes when a file does.
func stampOf(file string) string {
	info, err := os.Stat(file)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.ModTime().UnixNano(), info.Size())
}

// mostIncluded bounds the files that a nix.conf includes.
const mostIncluded = 20

// confOf reads a nix.conf and what it includes (nix.conf(5)); what cannot be read sets nothing.
func confOf(file string) map[string]string {
	settings, files := map[string]string{}, 0
	var read func(string)
	read = func(file string) {
		text, err := os.ReadFile(file)
		if files++; err != nil || files > mostIncluded {
			return
		}
		for line := range strings.Lines(string(text)) {
			line, _, _ = strings.Cut(line, "#")
			words := strings.Fields(line)
			switch {
			case len(words) == 2 && (words[0] == "include" || words[0] == "!include"):
				name := words[1]
				if !filepath.IsAbs(name) {
					name = filepath.Join(filepath.Dir(file), name)
				}
				read(name)
			case len(words) >= 2 && words[1] == "=":
				settings[words[0]] = strings.Join(words[2:], " ")
			}
		}
	}
	read(file)
	return settings
}
