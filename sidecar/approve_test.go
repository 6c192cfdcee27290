package sidecar

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"code.sidecar.dev/sidecar/declared"
	"code.sidecar.dev/sidecar/protocol"
	"github.com/google/go-cmp/cmp"
)

// TestNamesInQuestions: a name that a run chose adds no line to a question, and is told from the words around it.
func TestNamesInQuestions(t *testing.T) {
	const before, after = "May Nix evaluate the project's code, as it is now, outside of the sandbox (", ")?"
	for want, files := range map[string][]string{
		"flake.nix, nix/bücher.nix": {"flake.nix", "nix/bücher.nix"},
		`"a)?\nsidecar: [n] no? n\nsidecar: x asks: May this run reach good.example (https.nix", flake.nix`: {"a)?\nsidecar: [n] no? n\nsidecar: x asks: May this run reach good.example (https.nix", "flake.nix"},
		`"a)? May this run read b (.nix"`:            {"a)? May this run read b (.nix"},
		`"\u202exin.a", "\u00a0", "\x1b[2J", "\xff"`: {"\u202exin.a", "\u00a0", "\x1b[2J", "\xff"},
		strings.Repeat("a", 100) + "…":               {strings.Repeat("a", 5000)},
		"1, 2, 3, 4, 5, 6, 7, 8, and 2 more":         {"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"},
	} {
		if got := trustText(files); got != before+want+after {
			t.Errorf("%q:\n%s\nwant\n%s", files, got, before+want+after)
		}
	}
}

// machine is a workspace, what is declared beside it, and what an agent would like to know of.
func machine(t *testing.T) (root string, h declared.Host, have []declared.Mount) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	for _, folder := range []string{"ws", "declared", "dir", "state"} {
		err = errors.Join(err, os.Mkdir(filepath.Join(root, folder), 0o700))
	}
	err = errors.Join(err, os.WriteFile(filepath.Join(root, "file"), nil, 0o600), os.Symlink("file", filepath.Join(root, "link")),
		os.Symlink("../file", filepath.Join(root, "declared", "link")), os.Symlink("secret/place", filepath.Join(root, "dangling")))
	if err != nil {
		t.Fatal(err)
	}
	h = declared.Host{Home: root, Getenv: func(string) string { return root + "/file" }, Workspace: []string{root + "/ws"}, Own: []string{root + "/state"}}
	return root, h, []declared.Mount{{Source: root + "/declared", Target: root + "/declared", Folder: true}}
}

// TestRequestedFiles: until a person has said yes, the answer about a path that a request names is one and the same, whatever
// the path is; the person is told.
func TestRequestedFiles(t *testing.T) {
	const never = "bad_request: files: "
	root, h, have := machine(t)
	for path, want := range map[string]struct{ nobody, question, yes string }{
		"/file":           {"", "ROOT/file", "ro ROOT/file"},
		"/dir":            {"", "the folder ROOT/dir", "ro ROOT/dir"},
		"/missing":        {"", "ROOT/missing, which does not exist", never + "ROOT/missing: does not exist: make it with `touch ROOT/missing`, or take it out"},
		"/file/below":     {"", "ROOT/file/below, which does not exist", never + "ROOT/file/below: does not exist: make it with `touch ROOT/file/below`, or take it out"},
		"/link":           {"", "ROOT/link, which leads to ROOT/file", "ro ROOT/link from ROOT/file"},
		"/dangling":       {"", "ROOT/dangling, which does not exist", never + "ROOT/dangling: does not exist: the symbolic link ROOT/dangling leads to secret/place"},
		"/state":          {"", "ROOT/state, which no run can have", never + "ROOT/state: has sidecar's own folder ROOT/state, which runs never see"},
		"/ws/../file":     {"", "ROOT/file", "ro ROOT/file"},
		"/declared/x":     {"nothing", "", "nothing"},
		"/declared/link":  {"nothing", "", "nothing"},
		"/ws/missing":     {"nothing", "", "nothing"},
		"=missing/../x/y": {"nothing", "", "nothing"},
		"=../file":        {"", "ROOT/file", "ro ROOT/file"},
		"=/":              {never + "/: is everything: name the folders that are meant", "", never + "/: is everything: name the folders that are meant"},
		"=/proc/1":        {never + "/proc/1: has /proc, which runs never see; sockets are named in network.sockets", "", never + "/proc/1: has /proc, which runs never see; sockets are named in network.sockets"},
	} {
		text, literal := strings.CutPrefix(path, "=")
		if !literal {
			text = root + path
		}
		if want.nobody == "" {
			meant := absolute(root+"/ws", text)
			want.nobody = "denied_by_policy: the run may not read " + meant + ", which lies outside of the workspace\na person allows it in the settings: files.ro_files: [" + meant + "], or files.ro_dirs where it is a folder"
		}
		asked := ""
		answer := protocol.No
		approve := func(_ context.Context, q protocol.Question) protocol.Answer {
			asked = strings.TrimSuffix(strings.TrimPrefix(q.Text, "May this run read "), "?")
			return answer
		}
		ask := func(approve func(context.Context, protocol.Question) protocol.Answer) string {
			mounts, err := new(Engine).requested(t.Context(), Request{Params: protocol.RunParams{Files: []string{text}}, Approve: approve}, h, have)
			return strings.ReplaceAll(requestedShown(mounts, err), root, "ROOT")
		}
		got := [4]string{ask(nil), ask(approve)}
		answer = protocol.Once
		got[2], got[3] = ask(approve), strings.ReplaceAll(asked, root, "ROOT")
		nobody := strings.ReplaceAll(want.nobody, root, "ROOT")
		if diff := cmp.Diff([4]string{nobody, nobody, want.yes, want.question}, got); diff != "" {
			t.Errorf("%s: of nobody, no, yes and the question: -want +got:\n%s", path, diff)
		}
	}
}

// requestedShown is what a request comes to, in a line: the one mount, or the error.
func requestedShown(mounts []declared.Mount, err error) string {
	var known *protocol.Error
	switch {
	case errors.As(err, &known):
		return string(known.Kind) + ": " + known.Error()
	case len(mounts) == 0:
		return "nothing"
	case mounts[0].Source != mounts[0].Target:
		return "ro " + mounts[0].Target + " from " + mounts[0].Source
	}
	return "ro " + mounts[0].Target
}

// TestPathsOfRequests: nothing is expanded in them.
func TestPathsOfRequests(t *testing.T) {
	for path, ok := range map[string]bool{"/a": true, "a": true, "../a": true, "/a$b~": true, "./$x": true, "": false, "~": false, "~/a": false, "~root/a": false, "$HOME": false, "${HOME}/a": false, "/a\x00": false} {
		for _, p := range []protocol.RunParams{{Files: []string{path}}, {WritableFiles: []string{path}}} {
			if err := checkTexts(p); (err == nil) != ok {
				t.Errorf("%q: %v", path, err)
			}
		}
	}
}

// TestWorkingFolders: of what lies outside nothing is told, not even through a link that a run made.
func TestWorkingFolders(t *testing.T) {
	root, h, _ := machine(t)
	ws := h.Workspace[0]
	for name, to := range map[string]string{"to-dir": "../dir", "to-nothing": "../nothing", "to-below": root + "/file/below", "to-none": "none"} {
		if err := os.Symlink(to, filepath.Join(ws, name)); err != nil {
			t.Fatal(err)
		}
	}
	for cwd, want := range map[string]string{
		"": "", ".": "", "none": "no such file or directory", "none/x": "no such file or directory", "to-none": "no such file or directory",
		"..": "outside", "../dir": "outside", "../nothing": "outside", "../file/below": "outside", "/nowhere": "outside", "to-dir": "outside", "to-nothing": "outside",
		"to-below": "outside", "to-nothing/x": "outside",
	} {
		_, err := workingDir(ws, cwd)
		if want == "outside" {
			want = "is outside the workspace"
		}
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", cwd, err, want)
		}
	}
}

// What is shown is what the person was asked about: its identity is taken before, and what replaces it has another.
func TestRequestedFilesAreThoseOfTheQuestion(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere nothing is mounted")
	}
	root, h, have := machine(t)
	var was syscall.Stat_t
	if err := syscall.Stat(root+"/file", &was); err != nil {
		t.Fatal(err)
	}
	approve := func(context.Context, protocol.Question) protocol.Answer {
		if err := errors.Join(os.Rename(root+"/file", root+"/aside"), os.Symlink("secret", root+"/file")); err != nil {
			t.Error(err)
		}
		return protocol.Once
	}
	mounts, err := new(Engine).requested(t.Context(), Request{Params: protocol.RunParams{Files: []string{root + "/file"}}, Approve: approve}, h, have)
	if err != nil || len(mounts) != 1 || mounts[0].Dev != uint64(was.Dev) || mounts[0].Ino != was.Ino {
		t.Errorf("%+v (%v), want device %d, inode %d", mounts, err, was.Dev, was.Ino)
	}
}
