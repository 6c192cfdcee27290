package sbpl

import (
	"fmt"
	"slices"
	"strings"
)

// Profile is what a profile's text comes to.
type Profile struct {
	rules   []rule
	params  map[string]string
	imports map[string]string
	defined map[string]value
}

// rule is one allow or deny.
type rule struct {
	allow bool
	ops   []string
	// filters are alternatives; a rule without any is its operations' default.
	filters []filter
	line    int
}

// value is what an expression comes to: a string, a number, a filter, or nothing (#f).
type value struct {
	text   string
	filter filter
	none   bool
}

// Load reads a profile. params are those of sandbox-exec -D; imports are the texts of the profiles that it imports.
func Load(profile string, params, imports map[string]string) (*Profile, error) {
	p := &Profile{params: params, imports: imports, defined: map[string]value{}}
	forms, err := parse(profile)
	if err != nil {
		return nil, err
	}
	if len(forms) == 0 || forms[0].head() != "version" {
		return nil, fmt.Errorf("a profile starts with (version 1)")
	}
	return p, p.all(forms)
}

func (p *Profile) all(forms []node) error {
	for _, f := range forms {
		if err := p.directive(f); err != nil {
			return fmt.Errorf("line %d: %w", f.line, err)
		}
	}
	return nil
}

func (p *Profile) directive(f node) error {
	switch f.head() {
	case "version", "debug":
		return nil
	case "allow", "deny":
		return p.rule(f)
	case "import":
		return p.load(f)
	case "define":
		return p.define(f)
	case "begin":
		return p.all(f.list[1:])
	case "if":
		return p.choose(f)
	}
	return fmt.Errorf("unknown directive %q", f.head())
}

func (p *Profile) load(f node) error {
	if len(f.list) != 2 || f.list[1].kind != text {
		return fmt.Errorf("import takes one name")
	}
	source, ok := p.imports[f.list[1].atom]
	if !ok {
		return fmt.Errorf("no text is assumed for the imported profile %q", f.list[1].atom)
	}
	forms, err := parse(source)
	if err != nil {
		return err
	}
	return p.all(forms)
}

func (p *Profile) define(f node) error {
	if len(f.list) != 3 || f.list[1].kind != symbol {
		return fmt.Errorf("only (define NAME VALUE) is known")
	}
	v, err := p.value(f.list[2])
	p.defined[f.list[1].atom] = v
	return err
}

func (p *Profile) choose(f node) error {
	if len(f.list) < 3 {
		return fmt.Errorf("if takes a condition and a directive")
	}
	v, err := p.value(f.list[1])
	switch {
	case err != nil:
		return err
	case !v.none:
		return p.directive(f.list[2])
	case len(f.list) > 3:
		return p.directive(f.list[3])
	}
	return nil
}

// rule reads (allow OPERATION… (FILTER …)… (with MODIFIER …)…).
func (p *Profile) rule(f node) error {
	r := rule{allow: f.head() == "allow", line: f.line}
	for _, a := range f.list[1:] {
		switch {
		case a.kind == symbol && p.isFilter(a.atom):
			r.filters = append(r.filters, p.defined[a.atom].filter)
		case a.kind == symbol:
			op, ok := operation(a.atom)
			if !ok {
				return fmt.Errorf("unknown operation %q", a.atom)
			}
			r.ops = append(r.ops, op)
		case a.head() == "with":
			if err := checkModifier(a, r.allow); err != nil {
				return err
			}
		default:
			v, err := p.value(a)
			if err != nil {
				return err
			}
			if v.filter == nil {
				return fmt.Errorf("%q is no filter", a.head())
			}
			r.filters = append(r.filters, v.filter)
		}
	}
	if len(r.ops) == 0 {
		return fmt.Errorf("a rule of no operation")
	}
	p.rules = append(p.rules, r)
	return nil
}

func (p *Profile) isFilter(name string) bool { return p.defined[name].filter != nil }

// checkModifier refuses what sandbox-exec refuses: "report modifier does not apply to deny action".
func checkModifier(a node, allow bool) error {
	if len(a.list) < 2 || a.list[1].kind != symbol {
		return fmt.Errorf("with takes a modifier")
	}
	name := a.list[1].atom
	known := []string{"message", "no-log", "no-report", "send-signal", "telemetry", "report", "no-sandbox", "no-profile"}
	switch {
	case !slices.Contains(known, name):
		return fmt.Errorf("unknown modifier %q", name)
	case name == "report" && !allow:
		return fmt.Errorf("the modifier report does not apply to deny")
	case name == "message" && (len(a.list) != 3 || a.list[2].kind != text):
		return fmt.Errorf("message takes a string")
	}
	return nil
}

// aliases are other names of operations (sbpl_v1.scm of libsandbox).
var aliases = map[string]string{
	"process-exec": "process-exec*", "ipc-posix-sem": "ipc-posix-sem*", "ipc-posix-shm": "ipc-posix-shm*", "sysctl-write": "sysctl*",
	"file-unlink": "file-write-unlink", "file-write-mount": "file-mount", "file-write-unmount": "file-unmount",
	"ipc-posix-shm-read*": "ipc-posix-shm-read-data",
}

// operations are those that are known, with what they lie below; a class ends in "*".
var operations = parents(
	"default",
	"file*", "file-chroot", "file-clone", "file-ioctl", "file-issue-extension", "file-link", "file-map-executable", "file-mknod", "file-mount",
	"file-unmount", "file-revoke", "file-search", "file-test-existence",
	"file-read*", "file-read-data", "file-read-metadata", "file-read-xattr",
	"file-write*", "file-write-acl", "file-write-create", "file-write-data", "file-write-flags", "file-write-mode", "file-write-owner",
	"file-write-setugid", "file-write-times", "file-write-unlink", "file-write-xattr",
	"iokit-open", "iokit-get-properties", "iokit-set-properties",
	"ipc*", "ipc-posix*", "ipc-posix-issue-extension", "ipc-posix-sem*", "ipc-posix-sem-create", "ipc-posix-sem-open", "ipc-posix-sem-post",
	"ipc-posix-sem-unlink", "ipc-posix-sem-wait", "ipc-posix-shm*", "ipc-posix-shm-read-data", "ipc-posix-shm-write-create",
	"ipc-posix-shm-write-data", "ipc-posix-shm-write-unlink", "ipc-sysv*", "ipc-sysv-msg", "ipc-sysv-sem", "ipc-sysv-shm",
	"job-creation", "lsopen", "appleevent-send", "distributed-notification-post", "user-preference-read", "user-preference-write",
	"authorization-right-obtain", "mach*", "mach-bootstrap", "mach-lookup", "mach-register", "mach-priv*", "mach-priv-host-port",
	"mach-priv-task-port", "mach-cross-domain-lookup", "network*", "network-bind", "network-inbound", "network-outbound", "nvram*", "nvram-get",
	"nvram-set", "process*", "process-exec*", "process-exec-interpreter", "process-fork", "process-info*", "process-info-pidinfo",
	"process-info-listpids", "process-info-pidfdinfo", "process-info-setcontrol", "process-info-dirtycontrol", "process-info-codesignature",
	"pseudo-tty", "signal", "sysctl*", "sysctl-read", "system*", "system-acct", "system-audit", "system-debug", "system-fsctl", "system-info",
	"system-kext*", "system-privilege", "system-reboot", "system-sched", "system-set-time", "system-socket", "system-swap",
	"dynamic-code-generation",
)

func operation(name string) (string, bool) {
	if a, ok := aliases[name]; ok {
		name = a
	}
	_, ok := operations[name]
	return name, ok
}

// parents are, for each operation, the classes that it lies below, the nearest first, and default.
func parents(names ...string) map[string][]string {
	all := map[string][]string{}
	for _, name := range names {
		var above []string
		for _, class := range names {
			stem, isClass := strings.CutSuffix(class, "*")
			own := strings.TrimSuffix(name, "*")
			if isClass && class != name && strings.HasPrefix(own, stem+"-") {
				above = append(above, class)
			}
		}
		slices.SortFunc(above, func(a, b string) int { return len(b) - len(a) })
		if name != "default" {
			above = append(above, "default")
		}
		all[name] = above
	}
	return all
}
