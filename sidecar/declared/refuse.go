package declared

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

const socket = fs.ModeSocket

// kernel are folders that are made anew for each run, or lead to the machine's services.
var kernel = []string{"/proc", "/sys", "/dev", "/run/user"}

// refuse says why a path is never shown so, whatever a person declares: as it was written, and as it is without links.
func (h Host) refuse(it item) error {
	for _, path := range []string{it.text, it.end} {
		if err := h.refused(path, it.Write); err != nil {
			return err
		}
	}
	return h.refuseWorkspace(it)
}

// Never says why a path is never shown, on no machine.
func Never(path string) error {
	if path == "/" {
		return errors.New("is everything: name the folders that are meant")
	}
	for _, folder := range kernel {
		if inside(path, folder) || inside(folder, path) {
			return fmt.Errorf("has %s, which runs never see; sockets are named in network.sockets", folder)
		}
	}
	return nil
}

func (h Host) refused(path string, write bool) error {
	if err := Never(path); err != nil {
		return err
	}
	for _, folder := range h.Own {
		if inside(path, folder) || inside(folder, path) {
			return fmt.Errorf("has sidecar's own folder %s, which runs never see", folder)
		}
	}
	if write && slices.ContainsFunc(h.homes, func(home string) bool { return inside(home, path) }) {
		return errors.New("has the whole home, with all that programs outside of sandboxes obey: name the folders in it that are meant")
	}
	return nil
}

// refuseWorkspace keeps the workspace's protected paths as they are: no second way leads to them.
func (h Host) refuseWorkspace(it item) error {
	for _, folder := range h.Workspace {
		switch {
		case it.Write && (inside(folder, it.end) || inside(folder, it.text)):
			return fmt.Errorf("has the workspace %s, whose protected paths it would open", folder)
		case inside(it.text, folder) && !it.Write:
			return errors.New("is in the workspace already; protect.also makes a part of it read-only")
		case inside(it.text, folder):
			return errors.New("is in the workspace already")
		case it.Write && inside(it.end, folder):
			return fmt.Errorf("leads to %s, in the workspace", shown(it.end))
		}
	}
	return nil
}

// system are the read-only parts of the system that a link may lead to, where only root can write them. /etc is not: it
// has secrets, which a run of root could read.
func (h Host) system() []root {
	all := []root{{"/nix/store", false}}
	for _, folder := range []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/static", "/etc/ssl/certs", "/etc/pki/tls/certs", "/run/current-system", "/System", "/Library"} {
		w, err := h.walk(folder)
		if err != nil {
			continue
		}
		if st, ok := w.info.Sys().(*syscall.Stat_t); ok && st.Uid == 0 && w.info.Mode().Perm()&0o022 == 0 {
			all = append(all, root{w.end, false})
		}
	}
	return all
}

// shown is a path for a message: quoted where it is not plain.
func shown(path string) string {
	if path != "" && strings.IndexFunc(path, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '"' }) < 0 {
		return path
	}
	return strconv.Quote(path)
}

// quoted is a path for a shell; ~ and variables at its start stay what they are.
func quoted(text string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/_-.+@%=:,"
	_, rest, ok := variable(text)
	if !ok {
		rest = text
	}
	if strings.Trim(rest, plain) == "" {
		return text
	}
	start := strings.TrimSuffix(text, rest)
	return start + "'" + strings.ReplaceAll(rest, "'", `'\''`) + "'"
}
