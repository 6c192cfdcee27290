package sandbox

import (
	"errors"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"code.sidecar.dev/sandbox/shim"
)

// pollable is a descriptor as a file of Go's poller, so that closing it ends a read.
func pollable(fd int, name string) *os.File {
	_ = unix.SetNonblock(fd, true)
	return os.NewFile(uintptr(fd), name)
}

// hear takes the shim's records until there are no more.
func (p *Process) hear(from *os.File, streams IO) {
	conn, err := from.SyscallConn()
	for err == nil {
		var kind byte
		var number int
		var file *os.File
		if kind, number, file, err = readRecord(conn); err == nil {
			p.take(kind, number, file, streams)
		}
	}
}

// sendWith writes a short message with a descriptor (unix(7), SCM_RIGHTS), to a socket whose buffer is empty.
func sendWith(to *os.File, message []byte, with *os.File) error {
	conn, err := to.SyscallConn()
	if err != nil {
		return err
	}
	held, err := with.SyscallConn()
	if err != nil {
		return err
	}
	var sent error
	send := func(fd, descriptor uintptr) {
		sent = unix.Sendmsg(int(fd), message, unix.UnixRights(int(descriptor)), nil, 0)
	}
	nested := held.Control(func(descriptor uintptr) {
		err = conn.Control(func(fd uintptr) { send(fd, descriptor) })
	})
	return errors.Join(nested, err, sent)
}

// take does what a record says. A record without its descriptor, which the shim does not write, is nothing.
func (p *Process) take(kind byte, number int, file *os.File, streams IO) {
	switch {
	case kind == shim.TerminalRecord && file != nil && p.plan.Terminal:
		p.hasTerminal(file, streams)
		return
	case (kind == shim.SocketRecord && file != nil || kind == shim.FailedRecord) && streams.Socket != nil:
		streams.Socket(number, file)
		return
	case kind == shim.TreeRecord && streams.tree != nil:
		streams.tree(number, file)
		return
	case kind == shim.PinnedRecord:
		p.control.pinned(number)
	case kind == shim.StoppedRecord && streams.Stopped != nil:
		streams.Stopped(number)
	}
	if file != nil {
		_ = file.Close()
	}
}

// readRecord reads one record, and the descriptor that came with it.
func readRecord(conn syscall.RawConn) (kind byte, number int, file *os.File, err error) {
	record, rights := make([]byte, shim.RecordSize), make([]byte, unix.CmsgSpace(4))
	var n, more int
	closed := conn.Read(func(fd uintptr) bool {
		n, more, _, _, err = unix.Recvmsg(int(fd), record, rights, unix.MSG_CMSG_CLOEXEC)
		return !errors.Is(err, unix.EAGAIN)
	})
	if err = errors.Join(closed, err); err != nil {
		return 0, 0, nil, err
	}
	file = descriptor(rights[:more])
	if n < len(record) { // records are written whole: this is the end
		return 0, 0, nil, io.EOF
	}
	return record[0], int(record[1]) | int(record[2])<<8, file, nil
}

func descriptor(rights []byte) *os.File {
	messages, err := unix.ParseSocketControlMessage(rights)
	if err != nil || len(messages) != 1 {
		return nil
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil
	}
	return pollable(fds[0], "sandbox")
}

// hasTerminal copies between the controlling side of the program's terminal and the run's streams.
func (p *Process) hasTerminal(terminal *os.File, streams IO) {
	p.control.has(terminal)
	p.copies.Go(func() {
		_, _ = io.Copy(p.counts(streams.Stdout), onlyReader{terminal}) // ends with EIO when nobody has the other side any more
		p.control.has(nil)
		_ = terminal.Close()
	})
	if streams.Stdin != nil {
		go func() { // not waited for, as in feed
			if p.begins(streams.Ready) {
				_, _ = io.Copy(onlyWriter{terminal}, streams.Stdin)
			}
		}()
	}
}
