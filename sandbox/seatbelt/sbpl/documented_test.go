package sbpl

import (
	"net/netip"
	"testing"
)

// The profiles here are small ones of our own after the form of public ones whose authors say what they do, or what they
// measured. Each says where that is said.

func endpoint(protocol, address string) Endpoint {
	return Endpoint{Protocol: protocol, Address: netip.MustParseAddrPort(address)}
}

func outbound(protocol, address string) Query {
	return Query{Op: "network-outbound", Remote: endpoint(protocol, address)}
}

// documented is a profile, and what is said of it.
type documented struct {
	source  string
	profile string
	params  map[string]string
	imports map[string]string
	allowed []Query
	denied  []Query
	// unsure are questions that the two readings of a profile answer differently: Decide has to say so.
	unsure []Query
}

var all = []documented{
	{
		source: "Bazel, DarwinSandboxedSpawnRunner.writeConfig: \"the *last* matching rule wins\"; everything is read-only but the writable folders, and some cannot be read",
		profile: `(version 1)(debug deny)(allow default)
			(deny network*)(allow network* (local ip "localhost:*"))(allow network* (remote ip "localhost:*"))(allow network* (remote unix-socket))
			(deny file-write*)
			(allow file-write* (subpath "/private/tmp") (subpath "/work"))
			(deny file-read* (subpath "/secret"))`,
		allowed: []Query{file("file-write-create", "/work/a"), file("file-write-data", "/private/tmp/x"), file("file-read-data", "/etc/x"), outbound("tcp", "127.0.0.1:80"), outbound("tcp", "[::1]:80"), file("network-outbound", "/var/run/s"), {Op: "mach-lookup", Name: "x"}},
		denied:  []Query{file("file-write-create", "/etc/x"), file("file-write-unlink", "/worker/a"), file("file-read-data", "/secret/a"), file("file-read-metadata", "/secret"), outbound("tcp", "10.0.0.1:80")},
	},
	{
		source: "Nix, sandbox-defaults.sb: setuid files are disallowed, though all of file* is allowed in the build folder after it; parameters; local networking on request",
		profile: `(version 1)(define TMP (param "_TMP"))(deny default)(deny file-write-setugid)
			(allow file* process-exec network-outbound network-inbound (literal "/tmp") (subpath TMP))
			(allow signal (target same-sandbox))
			(if (param "_LOCAL") (begin (allow network* (remote ip "localhost:*")) (allow network-inbound (local ip "*:*"))))
			(allow file* (literal "/dev/ptmx") (regex #"^/dev/ttys[0-9]+"))`,
		params:  map[string]string{"_TMP": "/build"},
		allowed: []Query{file("file-write-create", "/build/x"), file("file-read-data", "/build/x"), file("process-exec", "/build/a.out"), file("network-outbound", "/build/socket"), {Op: "signal", Target: "self"}, file("file-ioctl", "/dev/ttys012")},
		denied:  []Query{file("file-write-create", "/tmp/x"), outbound("tcp", "127.0.0.1:80"), {Op: "signal", Target: "others"}, file("file-ioctl", "/dev/ttysx"), {Op: "mach-lookup", Name: "x"}},
		unsure:  []Query{file("file-write-setugid", "/build/x")},
	},
	{
		source: "Nix, the same, with local networking: \"required to bind and listen\"",
		profile: `(version 1)(deny default)
			(if (param "_LOCAL") (begin (allow network* (remote ip "localhost:*")) (allow network-inbound (local ip "*:*"))) (allow mach-lookup))`,
		params:  map[string]string{"_LOCAL": "1"},
		allowed: []Query{outbound("tcp", "127.0.0.1:80"), {Op: "network-inbound", Local: endpoint("tcp", "0.0.0.0:80")}},
		denied:  []Query{outbound("tcp", "1.1.1.1:80"), {Op: "mach-lookup", Name: "x"}},
	},
	{
		source: "sandbox-runtime, macos-sandbox-utils.ts: later rules take precedence; the denied path and every folder above it cannot be renamed (file-write-unlink); metadata of folders only, so that realpath() works; any Mach service that is not named is denied",
		profile: `(version 1)(deny default (with message "tag"))
			(allow file-read*)(deny file-read* (subpath "/Users") (with message "tag"))(allow file-read* (subpath "/Users/me/p"))
			(allow file-read-metadata (vnode-type DIRECTORY))
			(allow file-write* (subpath "/Users/me/p"))
			(deny file-write* (regex "^/Users/me/p/(.*/)?[.]git/hooks(/.*)?$"))
			(deny file-write-unlink (literal "/Users/me/p/.git") (literal "/Users/me/p"))
			(allow mach-lookup (global-name "com.apple.logd"))
			(allow system-socket (require-all (socket-domain AF_SYSTEM) (socket-protocol 2)))
			(allow network-outbound (remote ip "localhost:3128"))`,
		allowed: []Query{file("file-read-data", "/etc/hosts"), file("file-read-data", "/Users/me/p/f"), {Op: "file-read-metadata", Path: "/Users/other", Vnode: "DIRECTORY"}, file("file-write-create", "/Users/me/p/.git/x"), {Op: "mach-lookup", Name: "com.apple.logd"}, outbound("tcp", "127.0.0.1:3128"), {Op: "system-socket", Name: "AF_SYSTEM"}},
		denied:  []Query{file("file-read-data", "/Users/other/f"), {Op: "file-read-metadata", Path: "/Users/other/f", Vnode: "REGULAR-FILE"}, file("file-write-create", "/Users/me/p/.git/hooks/x"), file("file-write-create", "/Users/me/p/sub/.git/hooks/x"), file("file-write-unlink", "/Users/me/p/.git"), {Op: "mach-lookup", Name: "com.apple.logd2"}, outbound("tcp", "127.0.0.1:3129"), {Op: "system-socket", Name: "AF_ROUTE"}},
	},
	{
		source: "OpenAI Codex, seatbelt_base_policy.sbpl: /dev/null is written only where it is a device; sysctls by prefix; terminals of one's own by an extension, whose ioctls go without; Mach by local name, too",
		profile: `(version 1)(deny default)
			(allow file-write-data (require-all (path "/dev/null") (vnode-type CHARACTER-DEVICE)))
			(allow sysctl-read (sysctl-name "hw.ncpu") (sysctl-name-prefix "hw.optional.arm."))
			(allow file-read* file-write* (require-all (regex #"^/dev/ttys[0-9]+") (extension "com.apple.sandbox.pty")))
			(allow file-ioctl (regex #"^/dev/ttys[0-9]+"))
			(allow ipc-posix-shm-read-data ipc-posix-shm-write-create (ipc-posix-name-regex #"^/__KMP_REGISTERED_LIB_[0-9]+$"))
			(allow mach-lookup (global-name "a") (local-name "b"))`,
		allowed: []Query{{Op: "file-write-data", Path: "/dev/null", Vnode: "CHARACTER-DEVICE"}, {Op: "sysctl-read", Name: "hw.optional.arm.x"}, file("file-ioctl", "/dev/ttys001"), {Op: "ipc-posix-shm-write-create", Name: "/__KMP_REGISTERED_LIB_12"}, {Op: "mach-lookup", Name: "b"}},
		denied:  []Query{{Op: "file-write-data", Path: "/dev/null", Vnode: "REGULAR-FILE"}, {Op: "sysctl-read", Name: "hw.optional.x"}, file("file-write-data", "/dev/ttys001"), {Op: "ipc-posix-shm-write-create", Name: "/__KMP_REGISTERED_LIB_x"}, {Op: "mach-lookup", Name: "c"}},
	},
	{
		source: "Chromium, sandbox/policy/mac: paths below a parameter, by string-append; parameters are compared in full",
		profile: `(version 1)(deny default)(define log-path "LOG")(define home (string-append (param "HOME") "/Library"))
			(allow file-write* (require-all (path (param log-path)) (require-not (vnode-type SYMLINK))))
			(allow file-read* (subpath home))`,
		params:  map[string]string{"LOG": "/l/log", "HOME": "/Users/me"},
		allowed: []Query{file("file-write-data", "/l/log"), file("file-read-data", "/Users/me/Library/x")},
		denied:  []Query{file("file-write-data", "/l/log2"), {Op: "file-write-data", Path: "/l/log", Vnode: "SYMLINK"}, file("file-read-data", "/Users/me/Librarx")},
	},
	{
		source:  "measured by others on macOS: a wildcard deny does not override a specific allow, in either order",
		profile: `(version 1)(deny default)(deny file-read* (subpath "/p/.env"))(allow file-read-data (subpath "/p"))(allow file-write-data (subpath "/q"))(deny file-write* (subpath "/q/.env"))`,
		allowed: []Query{file("file-read-data", "/p/.env"), file("file-read-data", "/p/x")},
		denied:  []Query{file("file-read-metadata", "/p/.env"), file("file-write-create", "/q/x")},
		unsure:  []Query{file("file-write-data", "/q/.env")},
	},
	{
		source:  "measured by others on macOS: among filtered rules the last match wins; one without filters is the default wherever it stands",
		profile: `(version 1)(allow default)(allow network-outbound (remote ip "localhost:80"))(deny network-outbound)(deny network-outbound (remote ip "localhost:81"))(allow network-outbound (remote ip "localhost:81"))`,
		allowed: []Query{outbound("tcp", "127.0.0.1:81"), {Op: "network-bind", Local: endpoint("tcp", "127.0.0.1:1")}},
		denied:  []Query{outbound("tcp", "1.1.1.1:80"), file("network-outbound", "/some/socket")},
		unsure:  []Query{outbound("tcp", "127.0.0.1:80")},
	},
	{
		source:  "measured by others on macOS 15: (deny default) does not cover process-info*; localhost is 127.0.0.1, ::1 and 0.0.0.0; (remote tcp …) is no UDP, (remote ip …) is both",
		profile: `(version 1)(deny default)(allow network-outbound (remote tcp "localhost:80") (remote ip "localhost:81"))`,
		allowed: []Query{{Op: "process-info-pidinfo", Target: "others"}, outbound("tcp", "[::1]:80"), outbound("tcp", "0.0.0.0:80"), outbound("udp", "127.0.0.1:81")},
		denied:  []Query{outbound("udp", "127.0.0.1:80"), outbound("tcp", "127.0.0.2:80"), outbound("tcp", "[::ffff:127.0.0.1]:80")},
	},
	{
		source:  "measured by others on macOS 15: denied by name, and given back for oneself",
		profile: `(version 1)(deny default)(deny process-info*)(allow process-info* (target self))`,
		allowed: []Query{{Op: "process-info-pidinfo", Target: "self"}},
		denied:  []Query{{Op: "process-info-pidinfo", Target: "others"}, {Op: "process-info-listpids", Target: "same-sandbox"}},
	},
	{
		source:  "measured by others on macOS 14: rules are about the path that the kernel resolves, /private/tmp for /tmp; a link on the way needs its metadata; path-ancestors are the folders above and not the path",
		profile: `(version 1)(deny default)(allow file-read* (literal "/private/tmp/a"))(allow file-read-metadata (literal "/tmp") (path-ancestors "/Users/me/p"))`,
		allowed: []Query{file("file-read-data", "/private/tmp/a"), file("file-read-metadata", "/tmp"), file("file-read-metadata", "/Users"), file("file-read-metadata", "/")},
		denied:  []Query{file("file-read-data", "/tmp/a"), file("file-read-metadata", "/Users/me/p"), file("file-read-data", "/Users")},
	},
	{
		source:  "profiles that import one of the system: what that holds is an assumption here",
		profile: `(version 1)(deny default)(import "system.sb")(deny file-read* (subpath "/usr/share/x"))`,
		imports: map[string]string{"system.sb": `(version 1)(allow file-read* (subpath "/usr/share"))`},
		allowed: []Query{file("file-read-data", "/usr/share/y")},
		denied:  []Query{file("file-read-data", "/usr/share/x"), file("file-read-data", "/usr/lib/y")},
	},
	{
		source:  "quoting: a parameter in an expression is taken literally (regex-quote), and bytes beyond ASCII are bytes",
		profile: `(version 1)(deny default)(allow file-read* (regex (string-append "^" (regex-quote (param "W")) "/[^ -~]+$")))`,
		params:  map[string]string{"W": "/a.b (c)"},
		allowed: []Query{file("file-read-data", "/a.b (c)/é")},
		denied:  []Query{file("file-read-data", "/aXb (c)/é"), file("file-read-data", "/a.b (c)/e")},
	},
}

func TestDocumentedProfiles(t *testing.T) {
	for _, d := range all {
		t.Run(d.source, func(t *testing.T) {
			p, err := Load(d.profile, d.params, d.imports)
			if err != nil {
				t.Fatal(err)
			}
			for want, list := range map[bool][]Query{true: d.allowed, false: d.denied} {
				for _, q := range list {
					if a := p.Decide(q); a.Allowed != want {
						t.Errorf("%+v: %+v", q, a)
					}
				}
			}
			for _, q := range d.unsure {
				if a := p.Decide(q); a.Sure {
					t.Errorf("%+v is answered as if its order did not matter: %+v", q, a)
				}
			}
		})
	}
}

// TestUnsureAnswers: what the profiles say that are not only sure.
func TestUnsureAnswers(t *testing.T) {
	for profile, want := range map[string]bool{
		`(version 1)(deny default)(deny file-write-setugid)(allow file* (subpath "/b"))`: false, // Nix's
		`(version 1)(deny default)(allow file-write-setugid (subpath "/b"))(deny file*)`: true,
	} {
		p, err := Load(profile, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if a := p.Decide(file("file-write-setugid", "/b/x")); a.Allowed != want || a.Sure {
			t.Errorf("%s: %+v", profile, a)
		}
	}
}

// TestMoves: a move is two or three questions, a link one of its own.
func TestMoves(t *testing.T) {
	p, err := Load(`(version 1)(deny default)(allow file-write* (subpath "/w"))(deny file-write* (subpath "/w/held"))(deny file-write-unlink (literal "/w/above"))(allow file-link (subpath "/w/links"))`, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		got  Answer
		want bool
	}{
		"within":            {p.Move("/w/a", "/w/b"), true},
		"onto what is held": {p.Move("/w/a", "/w/held"), false},
		"what is held":      {p.MoveNew("/w/held", "/w/b"), false},
		"a folder above":    {p.MoveNew("/w/above", "/w/b"), false},
		"over that folder":  {p.Move("/w/a", "/w/above"), false},
		"out":               {p.MoveNew("/w/a", "/x"), false},
		"in":                {p.MoveNew("/x", "/w/a"), false},
		"a link":            {p.Link("/w/a", "/w/b"), false},
		"a link, lenient":   {p.Link("/w/a", "/w/links/b"), true},
		"a link to nowhere": {p.Link("/w/links/a", "/x"), false},
	} {
		if c.got.Allowed != c.want || !c.got.Sure {
			t.Errorf("%s: %+v", name, c.got)
		}
	}
}

// TestRefusedProfiles: what sandbox-exec refuses, and what is not known here, is never an answer.
func TestRefusedProfiles(t *testing.T) {
	for profile, want := range map[string]string{
		`(deny default)`: "a profile starts with (version 1)",
		`(version 1)(allow file-read* (subpath "/x")`: "line 1: the list of line 1 is not closed",
		"(version 1)\n)": "line 2: a ) that closes nothing",
		`(version 1)(allow file-read* (subpath "/x`:                                      "line 1: the string of line 1 is not closed",
		`(version 1)(allow network-outbound (remote ip "127.0.0.1:80"))`:                 "line 1: host must be * or localhost in network address",
		`(version 1)(allow network-outbound (remote ip "localhost"))`:                    "line 1: port missing in network address",
		`(version 1)(allow network-outbound (remote ip "*:1-100"))`:                      "line 1: invalid port in network address",
		`(version 1)(allow network-outbound (remote sctp "*:1"))`:                        `line 1: unknown protocol "sctp"`,
		`(version 1)(deny default (with report))`:                                        "line 1: the modifier report does not apply to deny",
		`(version 1)(allow file-frobnicate)`:                                             `line 1: unknown operation "file-frobnicate"`,
		`(version 1)(allow file-read* (frob "x"))`:                                       `line 1: unknown filter "frob"`,
		`(version 1)(allow file-read* (subpath (param "X")))`:                            "line 1: line 1: a parameter that is not given",
		`(version 1)(import "system.sb")`:                                                `line 1: no text is assumed for the imported profile "system.sb"`,
		`(version 1)(let ((x 1)) (allow default))`:                                       `line 1: unknown directive "let"`,
		`(version 1)(allow)`:                                                             "line 1: a rule of no operation",
		`(version 1)(allow file-read* (require-not (literal "/a") (literal "/b")))`:      "line 1: require-not of 2 filters",
		`(version 1)(allow file-read* (regex "("))`:                                      "line 1: regex: error parsing regexp: missing closing ): `(?s)(`",
		`(version 1)(allow file-read* (subpath))`:                                        `line 1: the filter "subpath" of nothing`,
		`(version 1)(allow file-read* (require-any "x"))`:                                "line 1: require-any of what is no filter",
		`(version 1)(deny default (with frob))`:                                          `line 1: unknown modifier "frob"`,
		`(version 1)(allow network-outbound (remote unix-socket (subpath (param "S"))))`: "line 1: line 1: a parameter that is not given",
	} {
		if _, err := Load(profile, nil, nil); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", profile, err, want)
		}
	}
}

// FuzzLoad: no text makes it fall over.
func FuzzLoad(f *testing.F) {
	for _, d := range all {
		f.Add(d.profile)
	}
	f.Fuzz(func(_ *testing.T, text string) {
		if p, err := Load(text, nil, nil); err == nil {
			p.Decide(file("file-read-data", "/x"))
		}
	})
}
