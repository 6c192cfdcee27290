package sbpl

import "slices"

// Query is what is asked: an operation, and what it is about.
type Query struct {
	Op string
	// Path is absolute, as the kernel sees it.
	Path string
	// Vnode is "REGULAR-FILE", "DIRECTORY", "SYMLINK", "CHARACTER-DEVICE", "TTY" or "".
	Vnode string
	// Name is a Mach service's, a sysctl's, a semaphore's, or a socket's domain.
	Name string
	// Target is whom a signal or a look at a process is about: "self", "children", "same-sandbox" or "others".
	Target        string
	Local, Remote Endpoint
}

func (q Query) endpoint(side string) Endpoint {
	if side == "local" {
		return q.Local
	}
	return q.Remote
}

// reaches says whether what is asked about is among a filter's targets: oneself is in one's own sandbox, too.
func (q Query) reaches(target string) bool {
	among := map[string][]string{"self": {"self"}, "children": {"children"}, "same-sandbox": {"self", "children", "same-sandbox"}, "others": {"same-sandbox", "others"}}
	return slices.Contains(among[target], q.Target)
}

// Answer is what a profile says.
type Answer struct {
	Allowed bool
	// Line is that of the rule which decides; 0 is none, and the system's own default.
	Line int
	// Sure says that the profile says so also when the order of its rules is all that counts.
	Sure bool
}

// Decide answers a question. An operation that is not known is never allowed.
func (p *Profile) Decide(q Query) Answer {
	op, ok := operation(q.Op)
	if !ok {
		return Answer{Sure: true}
	}
	a := p.byOperation(op, q)
	a.Sure = a.Allowed == p.byOrder(op, q)
	return a
}

// byOperation asks the rules of the operation first, then those of each class above it.
func (p *Profile) byOperation(op string, q Query) Answer {
	for _, level := range append([]string{op}, operations[op]...) {
		if level == "default" && isInfo(op) {
			break
		}
		var filtered, bare *rule
		for i := range p.rules {
			r := &p.rules[i]
			switch {
			case !slices.Contains(r.ops, level):
			case len(r.filters) == 0:
				bare = r
			case anyOf(r.filters)(q):
				filtered = r
			}
		}
		if filtered == nil {
			filtered = bare
		}
		if filtered != nil {
			return Answer{Allowed: filtered.allow, Line: filtered.line}
		}
	}
	return Answer{Allowed: isInfo(op)}
}

// isInfo is what (deny default) does not reach.
func isInfo(op string) bool {
	return op == "process-info*" || slices.Contains(operations[op], "process-info*")
}

// byOrder takes the last of all rules that match.
func (p *Profile) byOrder(op string, q Query) bool {
	levels := append([]string{op}, operations[op]...)
	if isInfo(op) {
		levels = levels[:len(levels)-1]
	}
	allowed := isInfo(op)
	for _, r := range p.rules {
		if !slices.ContainsFunc(r.ops, func(o string) bool { return slices.Contains(levels, o) }) {
			continue
		}
		if len(r.filters) == 0 || anyOf(r.filters)(q) {
			allowed = r.allow
		}
	}
	return allowed
}

// All answers several questions that must all be allowed.
func (p *Profile) All(qs ...Query) Answer {
	a := Answer{Allowed: true, Sure: true}
	for _, q := range qs {
		one := p.Decide(q)
		a.Sure = a.Sure && one.Sure
		if a.Allowed && !one.Allowed {
			a.Allowed, a.Line = false, one.Line
		}
	}
	return a
}

func file(op, path string) Query { return Query{Op: op, Path: path} }

// Read reads a file's content.
func (p *Profile) Read(path string) Answer { return p.Decide(file("file-read-data", path)) }

// Look reads what stat(2) and readlink(2) tell.
func (p *Profile) Look(path string) Answer { return p.Decide(file("file-read-metadata", path)) }

// Write changes a file that exists, and Create makes one: a file, a folder, a link or a socket.
func (p *Profile) Write(path string) Answer { return p.Decide(file("file-write-data", path)) }

// Create makes what is not there.
func (p *Profile) Create(path string) Answer { return p.Decide(file("file-write-create", path)) }

// Remove removes a file or an empty folder.
func (p *Profile) Remove(path string) Answer { return p.Decide(file("file-write-unlink", path)) }

// Move renames, over whatever is at to.
func (p *Profile) Move(from, to string) Answer {
	return p.All(file("file-write-unlink", from), file("file-write-create", to), file("file-write-unlink", to))
}

// MoveNew renames to where nothing is.
func (p *Profile) MoveNew(from, to string) Answer {
	return p.All(file("file-write-unlink", from), file("file-write-create", to))
}

// Link makes a hard link.
func (p *Profile) Link(from, to string) Answer {
	lenient := p.Decide(file("file-link", from))
	if other := p.Decide(file("file-link", to)); other.Allowed {
		lenient = other
	}
	create := p.Create(to)
	if lenient.Allowed && !create.Allowed {
		return create
	}
	return lenient
}

// Exec executes a program.
func (p *Profile) Exec(path string) Answer { return p.Decide(file("process-exec*", path)) }

// Connect connects to an address, "tcp" or "udp".
func (p *Profile) Connect(to Endpoint) Answer {
	return p.Decide(Query{Op: "network-outbound", Remote: to})
}

// ConnectUnix connects to a socket in the file system.
func (p *Profile) ConnectUnix(path string) Answer { return p.Decide(file("network-outbound", path)) }
