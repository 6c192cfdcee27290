package cgroup

import (
	"fmt"
	"os"
	"path/filepath"
)

// programs are where systemd-run is: PATH may name a program of a project's.
var programs = []string{"/usr/bin/systemd-run", "/bin/systemd-run", "/run/current-system/sw/bin/systemd-run"}

// Scope is a command that has systemd run another one, whose arguments follow, in a scope with control groups of its own
// (systemd-run(1), Delegate= in systemd.resource-control(5)), and a variable that the command needs; nil where no systemd
// manages this user's session. The command becomes the other one, so that descriptors and process id stay.
func Scope(root string, uid int) (argv, env []string) {
	runtime := fmt.Sprintf("/run/user/%d", uid)
	manager, flags := filepath.Join(runtime, "systemd/private"), []string{"--user"}
	if uid == 0 {
		manager, flags = "/run/systemd/private", nil
	}
	if _, err := os.Stat(filepath.Join(root, manager)); err != nil {
		return nil, nil
	}
	for _, program := range programs {
		if _, err := os.Stat(filepath.Join(root, program)); err == nil {
			argv = append([]string{program}, flags...)
			return append(argv, "--scope", "--quiet", "--collect", "--property=Delegate=yes", "--"), []string{"XDG_RUNTIME_DIR=" + runtime}
		}
	}
	return nil, nil
}
