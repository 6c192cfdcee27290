// Package sbpl answers what a Seatbelt profile allows, for tests: it reads the language that profiles are written in and
// judges an operation by Seatbelt's own rules, so that what the planner writes can be asked questions on any system.
//
//	p, err := sbpl.Load(profile, map[string]string{"WORKSPACE": "/Users/me/project"}, nil)
//	answer := p.Decide(sbpl.Query{Op: "file-write-create", Path: "/Users/me/project/.git/config"})
//
// # Rules
//
// Operations form a tree by their names: file-write-create lies below file-write*, that below file*, that below default.
// The rules of the operation itself are asked first, then those of each one above it. Among the rules of one operation that
// have filters the last that matches wins; one without filters is that operation's default, wherever it stands. Sources:
//
//   - Dionysus Blazakis, "The Apple Sandbox" (2011): a profile compiles to one list of rules an operation.
//   - Bazel, DarwinSandboxedSpawnRunner: "the *last* matching rule wins"; srt: "later rules take precedence".
//   - Nix, sandbox-defaults.sb: (deny file-write-setugid), written before (allow file* …), is there "to disallow creating
//     setuid binaries", so the operation goes before its class. People who measured it say the same: a wildcard deny does
//     not override a specific allow, in either order.
//   - (deny default) does not reach process-info*, which was measured on macOS 15: it has to be denied by name.
//   - The host of a network address is "*" or "localhost"; localhost is 127.0.0.1, ::1 and 0.0.0.0, and not 127.0.0.2.
//
// Since none of this is documented by Apple, Decide also judges by the simpler reading, in which all rules that match the
// operation or its classes stand in one list whose last match wins, and says whether both agree (Answer.Sure). What the
// planner writes has to be sure for every question that is asked of it.
//
// # Paths
//
// Paths are those that the kernel compares: absolute, with links, firmlinks and the case of what exists resolved. Two that
// lead to the same file by a hard link are two paths. Moving a file asks file-write-unlink of the old path (and of what the
// new one replaces) and file-write-create of the new one; a hard link asks file-link, of the old or of the new path (sources
// differ, so that Link takes the more lenient answer), and file-write-create of the new one.
//
// # Limits
//
// What it does not know it refuses to load, rather than to guess: it is no Scheme. An imported profile has to be given as a
// text: what it holds is then an assumption of the test.
package sbpl
