package shim

// Further descriptors of the shim where there are no namespaces.
const (
	// TerminalFD is the program's side of its terminal, if it has one: the executor has opened it.
	TerminalFD = 6
	// MembersFD is a stream socket: the executor asks which of some processes are of this sandbox (see Members).
	MembersFD = 7
)

// CannotTell is the answer of a shim that no sandbox confines.
const CannotTell = ^uint32(0)
