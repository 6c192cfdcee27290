package seatbelt

import (
	"path"
	"strings"
	"testing"

	"code.sidecar.dev/sandbox"
)

// shapeOf is a profile without its comments: what stands beside a parameter for people is the only place where a path is in it.
func shapeOf(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		rule, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ; ")
		if !strings.HasPrefix(rule, "; ") {
			b.WriteString(rule + "\n")
		}
	}
	return b.String()
}

// named is a policy whose workspace, folder and file have the names that are given.
func named(project, folder, file string) sandbox.Policy {
	root := "/Users/me/" + project
	held := path.Join(root, folder, file)
	return sandbox.Policy{
		Mounts: []sandbox.Mount{{Source: "/usr", Target: "/usr"}, {Source: root, Target: root, Access: sandbox.ReadWrite}},
		Pins:   sandbox.BuildPins([]string{root}, []sandbox.Pin{{Path: held, Kind: sandbox.Frozen}}),
		Dir:    root, Argv: []string{"/usr/bin/true"}, Hostname: "sandbox",
	}
}

// A path of any bytes stays a path: the rules are those of a plain one, what is protected stays so, and what lies beside it
// or outside does not become writable.
func FuzzProfile(f *testing.F) {
	for _, s := range []string{"a", `a"b`, `")(allow file-write*)(deny file-read* (literal "`, "a\nb", "; x", "a;b", "a)b", `\`, `\"`, `#"a"`, "[", "]", "a]b^c", "(|)$*+?.", "\x80\xff", "ſK", "é", "a=b", "${X}", " ", "%s", ".git", "**", "*"} {
		f.Add("project", "folder", s)
		f.Add("project", s, "config")
		f.Add(s, ".git", "config")
	}
	plain := loaded(f, named("project", "folder", "file"))
	f.Fuzz(func(t *testing.T, project, folder, file string) {
		for _, name := range []string{project, folder, file} {
			if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") || len(name) > 255 {
				t.Skip("no name of a file")
			}
		}
		p := loaded(t, named(project, folder, file))
		if got, want := strings.Count(shapeOf(p.text), "\n"), strings.Count(shapeOf(plain.text), "\n"); got != want {
			t.Errorf("%d lines of rules, and %d for plain names:\n%s", got, want, p.text)
		}
		root := "/Users/me/" + project
		held := path.Join(root, folder, file)
		for what, answer := range map[string]bool{
			"changed": p.profile.Write(held).Allowed, "made": p.profile.Create(held).Allowed, "removed": p.profile.Remove(held).Allowed,
			"moved": p.profile.MoveNew(held, root+"/elsewhere").Allowed, "moved, with its folder": p.profile.MoveNew(path.Dir(held), root+"/elsewhere").Allowed,
			"linked to": p.profile.Link("/Users/me/secret", root+"/secret").Allowed, "written outside": p.profile.Write("/Users/me/secret").Allowed,
			"read outside": p.profile.Read("/Users/me/secret").Allowed, "written beside": p.profile.Write(root + "x/y").Allowed,
		} {
			if answer {
				t.Errorf("%q can be %s", held, what)
			}
		}
		// Names that read as patterns, or have letters beyond ASCII, hold more than themselves (names.go).
		odd := func(r rune) bool { return r > '~' || r < ' ' || strings.ContainsRune(`*?[]^\"`, r) }
		if other := root + "/~other"; !strings.ContainsFunc(folder+file, odd) && folder != "~other" && !p.profile.Create(other).Allowed {
			t.Errorf("%q cannot be made", other)
		}
	})
}
