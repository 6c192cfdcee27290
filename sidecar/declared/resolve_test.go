package declared

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/protocol"
	"github.com/google/go-cmp/cmp"
)

// machine is a file system in a folder of its own: "NAME/" is a folder, "NAME -> TARGET" a link, another a file. ROOT in
// texts is the folder, which has a home and a workspace.
func machine(t *testing.T, files ...string) (Host, string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range append([]string{"home/", "home/ws/.git/", "state/sidecar/"}, files...) {
		name, to, isLink := strings.Cut(f, " -> ")
		path := filepath.Join(root, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		switch {
		case isLink:
			err = errors.Join(err, os.Symlink(strings.ReplaceAll(to, "ROOT", root), path))
		case strings.HasSuffix(name, "/"):
			err = errors.Join(err, os.MkdirAll(path, 0o755))
		default:
			err = errors.Join(err, os.WriteFile(path, []byte("text\n"), 0o644))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{"DATA": root + "/data", "RELATIVE": "data"}
	return Host{
		Home: root + "/home", Getenv: func(name string) string { return env[name] },
		Workspace: []string{root + "/home/ws"}, Own: []string{root + "/state/sidecar"},
	}, root
}

// show is a mount in a line: "rw-dir TARGET", and its source where that differs.
func show(m Mount, root string) string {
	text := map[bool]string{true: "rw", false: "ro"}[m.Write] + map[bool]string{true: "-dir ", false: "-file "}[m.Folder] + m.Target
	if m.Source != m.Target {
		text += " from " + m.Source
	}
	return strings.ReplaceAll(text, root, "")
}

// files reads "rw_dirs: A, B; ro_files: C".
func files(text string) config.Files {
	var f config.Files
	for part := range strings.SplitSeq(text, "; ") {
		key, list, _ := strings.Cut(part, ": ")
		paths := strings.Split(list, ", ")
		switch key {
		case "rw_dirs":
			f.RWDirs = paths
		case "rw_files":
			f.RWFiles = paths
		case "ro_dirs":
			f.RODirs = paths
		case "ro_files":
			f.ROFiles = paths
		default:
			panic(key)
		}
	}
	return f
}

func TestResolve(t *testing.T) {
	for name, tc := range map[string]struct {
		have     []string
		declared string
		want     []string
		pins     []string
	}{
		"each kind": {[]string{"home/a/", "home/b", "home/c/", "home/d"}, "rw_dirs: ~/a; rw_files: $HOME/b; ro_dirs: ${HOME}/c; ro_files: ROOT/home/d",
			[]string{"rw-dir /home/a", "rw-file /home/b", "ro-dir /home/c", "ro-file /home/d"}, nil},
		"a variable, and ..":  {[]string{"data/a/", "data/b c/"}, "ro_dirs: $DATA/x/../a, ${DATA}/b c/.", []string{"ro-dir /data/a", "ro-dir /data/b c"}, nil},
		"outer first":         {[]string{"home/a/b/c/", "home/a-b/"}, "rw_dirs: ~/a/b/c, ~/a-b; ro_dirs: ~/a", []string{"ro-dir /home/a", "rw-dir /home/a/b/c", "rw-dir /home/a-b"}, nil},
		"read-only inside":    {[]string{"home/a/b/c/d/"}, "rw_dirs: ~/a; ro_dirs: ~/a/b/c/d", []string{"rw-dir /home/a", "ro-dir /home/a/b/c/d"}, []string{"/home/a/b", "/home/a/b/c"}},
		"a ladder":            {[]string{"home/a/b/c/d"}, "rw_dirs: ~/a, ~/a/b/c; ro_dirs: ~/a/b; rw_files: ~/a/b/c/d", []string{"rw-dir /home/a", "ro-dir /home/a/b", "rw-dir /home/a/b/c"}, nil},
		"twice":               {[]string{"home/a/", "home/f"}, "rw_dirs: ~/a, ROOT/home/a/; ro_dirs: ~/a; ro_files: ~/f; rw_files: ~/f", []string{"rw-dir /home/a", "rw-file /home/f"}, nil},
		"the person's link":   {[]string{"home/dotfiles/gitconfig", "home/.gitconfig -> dotfiles/gitconfig"}, "ro_files: ~/.gitconfig", []string{"ro-file /home/.gitconfig from /home/dotfiles/gitconfig"}, nil},
		"and writable":        {[]string{"disk/cache/", "home/.cache -> ROOT/disk/cache"}, "rw_dirs: ~/.cache", []string{"rw-dir /home/.cache from /disk/cache"}, nil},
		"on the way":          {[]string{"disk/cache/go/", "home/.cache -> ../disk/cache"}, "rw_dirs: ~/.cache/go", []string{"rw-dir /home/.cache/go from /disk/cache/go"}, nil},
		"a chain":             {[]string{"home/x/f", "home/b -> x/f", "home/a -> b"}, "ro_files: ~/a", []string{"ro-file /home/a from /home/x/f"}, nil},
		".. after a link":     {[]string{"disk/d/", "disk/f", "home/l -> ROOT/disk/d", "home/m -> l/../f"}, "ro_files: ~/m", []string{"ro-file /home/m from /disk/f"}, nil},
		"planted, permitted":  {[]string{"home/rw/l -> ../other/f", "home/other/f"}, "rw_dirs: ~/rw; ro_files: ~/rw/l; ro_dirs: ~/other", []string{"ro-dir /home/other", "rw-dir /home/rw"}, nil},
		"planted, and inside": {[]string{"home/rw/l -> d/f", "home/rw/d/f"}, "rw_dirs: ~/rw; ro_files: ~/rw/l", []string{"rw-dir /home/rw", "ro-file /home/rw/d/f"}, []string{"/home/rw/d"}},
		"a link below what is read-only": {[]string{"home/ro/l -> ROOT/home/x/f", "home/x/f"}, "ro_dirs: ~/ro; ro_files: ~/ro/l",
			[]string{"ro-dir /home/ro", "ro-file /home/x/f"}, nil},
		"around the workspace":      {[]string{"home/src/w/.git/"}, "ro_dirs: ROOT/home/src", []string{"ro-dir /home/src"}, nil},
		"a link into the workspace": {[]string{"home/ws/doc/f", "home/l -> ws/doc/f"}, "ro_files: ~/l", []string{"ro-file /home/l from /home/ws/doc/f"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			h, root := machine(t, tc.have...)
			mounts, err := Resolve(Of(files(strings.ReplaceAll(tc.declared, "ROOT", root))), h)
			var got, pins []string
			for _, m := range mounts {
				got = append(got, show(m, root))
			}
			for _, p := range Pins(mounts) {
				pins = append(pins, strings.TrimPrefix(p, root))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
				t.Errorf("error %v, -want +got:\n%s", err, diff)
			}
			if diff := cmp.Diff(tc.pins, pins); diff != "" {
				t.Errorf("pins -want +got:\n%s", diff)
			}
		})
	}
}

func TestResolveRefuses(t *testing.T) {
	const planted = ": declare that itself, if it is meant, or remove the link"
	for name, tc := range map[string]struct {
		have     []string
		declared string
		want     []string
	}{
		"missing, all at once": {nil, "rw_dirs: ~/.cache/foo, ~/it's; ro_files: $HOME/f",
			[]string{"files.rw_dirs: ~/.cache/foo: does not exist: make it with `mkdir -p ~/.cache/foo`, or take it out",
				`files.rw_dirs: ~/it's: does not exist: make it with ` + "`mkdir -p ~'/it'\\''s'`" + `, or take it out`,
				"files.ro_files: $HOME/f: does not exist: make it with `touch $HOME/f`, or take it out"}},
		"below a file":           {[]string{"home/f"}, "ro_files: ~/f/g", []string{"files.ro_files: ~/f/g: does not exist: make it with `touch ~/f/g`, or take it out"}},
		"a file":                 {[]string{"home/f"}, "rw_dirs: ~/f", []string{"files.rw_dirs: ~/f: is a file: name it in files.rw_files"}},
		"a folder":               {[]string{"home/d/"}, "ro_files: ~/d", []string{"files.ro_files: ~/d: is a folder: name it in files.ro_dirs"}},
		"relative":               {nil, "ro_files: f, $RELATIVE/g, ~other/f", []string{"files.ro_files: f: a relative path; want an absolute one, or ~, $HOME or another variable at its start", "files.ro_files: $RELATIVE/g: a relative path; want an absolute one, or ~, $HOME or another variable at its start", "files.ro_files: ~other/f: a relative path; want an absolute one, or ~, $HOME or another variable at its start"}},
		"no variable":            {nil, "ro_files: $NONE/f, ${NONE}", []string{"files.ro_files: $NONE/f: the variable NONE is not set where this was started", "files.ro_files: ${NONE}: the variable NONE is not set where this was started"}},
		"dangling":               {[]string{"home/l -> x/y"}, "rw_dirs: ~/l", []string{"files.rw_dirs: ~/l: does not exist: the symbolic link ROOT/home/l leads to x/y"}},
		"a loop":                 {[]string{"home/a -> b", "home/b -> a"}, "rw_dirs: ~/a", []string{"files.rw_dirs: ~/a: leads through more than 40 symbolic links"}},
		"everything":             {nil, "ro_dirs: /, /tmp/..", []string{"files.ro_dirs: /: is everything: name the folders that are meant", "files.ro_dirs: /tmp/..: is everything: name the folders that are meant"}},
		"the kernel's":           {nil, "ro_dirs: /proc, /sys/kernel; ro_files: /dev/null", []string{"files.ro_dirs: /proc: has /proc, which runs never see; sockets are named in network.sockets", "files.ro_dirs: /sys/kernel: has /sys, which runs never see; sockets are named in network.sockets", "files.ro_files: /dev/null: is neither a file nor a folder (Dc---------)"}},
		"a link to the kernel's": {[]string{"home/p -> /proc/self"}, "ro_dirs: ~/p", nil},
		"the home":               {nil, "rw_dirs: ~, ROOT", []string{"files.rw_dirs: ~: has the whole home, with all that programs outside of sandboxes obey: name the folders in it that are meant", "files.rw_dirs: ROOT: has sidecar's own folder ROOT/state/sidecar, which runs never see"}},
		"sidecar's own":          {[]string{"state/sidecar/homes/x/", "home/s -> ../state"}, "ro_dirs: ROOT/state/sidecar/homes/x, ~/s", []string{"files.ro_dirs: ROOT/state/sidecar/homes/x: has sidecar's own folder ROOT/state/sidecar, which runs never see", "files.ro_dirs: ~/s: has sidecar's own folder ROOT/state/sidecar, which runs never see"}},
		"in the workspace":       {[]string{"home/ws/d/"}, "rw_dirs: ~/ws/d; ro_dirs: ~/ws/.git", []string{"files.rw_dirs: ~/ws/d: is in the workspace already", "files.ro_dirs: ~/ws/.git: is in the workspace already; protect.also makes a part of it read-only"}},
		"a way into it":          {[]string{"home/l -> ws/.git"}, "rw_dirs: ~/l", []string{"files.rw_dirs: ~/l: leads to ROOT/home/ws/.git, in the workspace"}},
		"the workspace":          {[]string{"other/", "other/l -> ../home/ws"}, "rw_dirs: ~/ws, ROOT/other/l", []string{"files.rw_dirs: ~/ws: has the workspace ROOT/home/ws, whose protected paths it would open", "files.rw_dirs: ROOT/other/l: has the workspace ROOT/home/ws, whose protected paths it would open"}},
		"planted":                {[]string{"home/rw/l -> ROOT/home/.ssh", "home/.ssh/"}, "rw_dirs: ~/rw; ro_dirs: ~/rw/l", []string{"files.ro_dirs: ~/rw/l: the symbolic link ROOT/home/rw/l, which a run may have made, leads to ROOT/home/.ssh" + planted}},
		"planted on the way":     {[]string{"home/rw/a -> ROOT/home", "home/.ssh/"}, "rw_dirs: ~/rw; ro_dirs: ~/rw/a/.ssh", []string{"files.ro_dirs: ~/rw/a/.ssh: the symbolic link ROOT/home/rw/a, which a run may have made, leads to ROOT/home/.ssh" + planted}},
		"planted, then a person's": {[]string{"home/rw/a -> ROOT/home/link", "home/link -> .ssh", "home/.ssh/"}, "rw_dirs: ~/rw; ro_dirs: ~/rw/a",
			[]string{"files.ro_dirs: ~/rw/a: the symbolic link ROOT/home/rw/a, which a run may have made, leads to ROOT/home/.ssh" + planted}},
		"a person's, then planted": {[]string{"home/link -> rw/a", "home/rw/a -> ../.ssh", "home/.ssh/"}, "rw_dirs: ~/rw; ro_dirs: ~/link",
			[]string{"files.ro_dirs: ~/link: the symbolic link ROOT/home/rw/a, which a run may have made, leads to ROOT/home/.ssh" + planted}},
		"planted in the workspace": {[]string{"home/ws/l -> ROOT/home/.ssh", "home/.ssh/", "home/k -> ws/l"}, "ro_dirs: ~/k",
			[]string{"files.ro_dirs: ~/k: the symbolic link ROOT/home/ws/l, which a run may have made, leads to ROOT/home/.ssh" + planted}},
		"planted, with more rights": {[]string{"home/rw/l -> ROOT/home/ro/d", "home/ro/d/"}, "rw_dirs: ~/rw, ~/rw/l; ro_dirs: ~/ro",
			[]string{"files.rw_dirs: ~/rw/l: the symbolic link ROOT/home/rw/l, which a run may have made, leads to ROOT/home/ro/d" + planted}},
		"planted links permit nothing": {[]string{"home/rw/l -> ROOT/home/.ssh", "home/rw/k -> ROOT/home/.ssh", "home/.ssh/"}, "rw_dirs: ~/rw; ro_dirs: ~/rw/l, ~/rw/k",
			[]string{"files.ro_dirs: ~/rw/l: the symbolic link ROOT/home/rw/l, which a run may have made, leads to ROOT/home/.ssh" + planted,
				"files.ro_dirs: ~/rw/k: the symbolic link ROOT/home/rw/k, which a run may have made, leads to ROOT/home/.ssh" + planted}},
		"planted where it really is": {[]string{"disk/rw/l -> ROOT/home/.ssh", "home/rw -> ROOT/disk/rw", "home/.ssh/"}, "rw_dirs: ~/rw; ro_dirs: ROOT/disk/rw/l",
			[]string{"files.ro_dirs: ROOT/disk/rw/l: the symbolic link ROOT/disk/rw/l, which a run may have made, leads to ROOT/home/.ssh" + planted}},
		"planted elsewhere": {[]string{"elsewhere/l -> ROOT/home/.ssh", "home/.ssh/"}, "ro_dirs: ROOT/elsewhere/l",
			[]string{"files.ro_dirs: ROOT/elsewhere/l: the symbolic link ROOT/elsewhere/l, which a run may have made, leads to ROOT/home/.ssh" + planted}},
		"planted in a workspace of before": {[]string{"before/deep/l -> ROOT/home/.ssh", "home/.ssh/"}, "ro_dirs: ROOT/before/deep/l",
			[]string{"files.ro_dirs: ROOT/before/deep/l: the symbolic link ROOT/before/deep/l, which a run may have made, leads to ROOT/home/.ssh" + planted}},
		"planted there, on the way": {[]string{"before/d -> ROOT/home", "home/.ssh/"}, "rw_dirs: ROOT/before/d/.ssh",
			[]string{"files.rw_dirs: ROOT/before/d/.ssh: the symbolic link ROOT/before/d, which a run may have made, leads to ROOT/home/.ssh" + planted}},
	} {
		t.Run(name, func(t *testing.T) {
			h, root := machine(t, tc.have...)
			h.Writable = []string{root + "/elsewhere"}
			h.Written = func(folder string) bool { return folder == root+"/before" }
			mounts, err := Resolve(Of(files(strings.ReplaceAll(tc.declared, "ROOT", root))), h)
			var pe *protocol.Error
			if !errors.As(err, &pe) || pe.Kind != protocol.BadRequest || mounts != nil {
				t.Fatalf("have %v, %v, want a bad request", mounts, err)
			}
			if tc.want == nil {
				return
			}
			if diff := cmp.Diff(tc.want, strings.Split(strings.ReplaceAll(err.Error(), root, "ROOT"), "\n")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestSystemLinks: what a distribution's own links lead to may be declared, and may be the target of a planted one, but
// only to be read.
func TestSystemLinks(t *testing.T) {
	h, root := machine(t, "home/rw/l -> /usr/bin", "home/bin -> /usr/bin")
	for declared, want := range map[string]string{
		"ro_dirs: ~/bin":                 "ro-dir /home/bin from " + end(t, h, "/usr/bin"),
		"rw_dirs: ~/rw; ro_dirs: ~/rw/l": "rw-dir /home/rw, ro-dir " + end(t, h, "/usr/bin"),
		"rw_dirs: ~/rw, ~/rw/l":          "",
	} {
		mounts, err := Resolve(Of(files(declared)), h)
		var got []string
		for _, m := range mounts {
			got = append(got, show(m, root))
		}
		if have := strings.Join(got, ", "); have != want || (want == "") != (err != nil) {
			t.Errorf("%s: have %q, %v, want %q", declared, have, err, want)
		}
	}
}

func end(t *testing.T, h Host, path string) string {
	w, err := h.walk(path)
	if err != nil {
		t.Fatal(err)
	}
	return w.end
}

// TestForeignLink: another user's link in a folder like /tmp is not followed.
func TestForeignLink(t *testing.T) {
	uid := uint32(os.Geteuid())
	for name, tc := range map[string]struct {
		owner  uint32
		folder fs.FileMode
		ok     bool
	}{
		"mine, shared":      {uid, 0o777, true},
		"root's, shared":    {0, 0o777, true},
		"another's, shared": {uid + 4321, 0o777, false},
		"another's":         {uid + 4321, 0o755, true},
	} {
		h, root := machine(t, "shared/l -> ROOT/home", "home/x/f")
		h.Lstat = func(path string) (fs.FileInfo, error) {
			info, err := os.Lstat(path)
			switch path {
			case root + "/shared":
				return stat{info, fs.ModeDir | tc.folder, uid}, err
			case root + "/shared/l":
				return stat{info, info.Mode(), tc.owner}, err
			}
			return info, err
		}
		_, err := Resolve([]Path{{Key: "k", Text: root + "/shared/l/x/f"}}, h)
		if (err == nil) != tc.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// stat is a file with another mode and owner.
type stat struct {
	fs.FileInfo
	mode fs.FileMode
	uid  uint32
}

func (s stat) Mode() fs.FileMode  { return s.mode }
func (s stat) ModTime() time.Time { return time.Time{} }
func (s stat) Sys() any           { return &syscall.Stat_t{Uid: s.uid} }

func TestSocket(t *testing.T) {
	h, root := machine(t)
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	t.Chdir(root) // the names of sockets are short
	if err := syscall.Bind(fd, &syscall.SockaddrUnix{Name: "home/s"}); err != nil {
		t.Fatal(err)
	}
	_, err = Resolve([]Path{{Key: "files.ro_files", Text: "~/s"}}, h)
	if err == nil || err.Error() != "files.ro_files: ~/s: is a unix socket: name it in network.sockets" {
		t.Error(err)
	}
}

func TestOfProfile(t *testing.T) {
	got := OfProfile("x", config.Profile{RWDirs: []string{"/a"}, ROFiles: []string{"/b"}})
	want := []Path{{Key: "profiles.x.rw_dirs", Text: "/a", Write: true, Folder: true}, {Key: "profiles.x.ro_files", Text: "/b"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestArranged: what has another source than the folder around it says something new.
func TestArranged(t *testing.T) {
	a, other, same := Mount{Source: "/disk/a", Target: "/a", Write: true, Folder: true}, Mount{Source: "/else", Target: "/a/b", Write: true, Folder: true}, Mount{Source: "/disk/a/c", Target: "/a/c", Write: true, Folder: true}
	if diff := cmp.Diff([]Mount{a, other}, arranged([]Mount{same, other, a})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
