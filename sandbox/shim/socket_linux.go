//go:build linux && (amd64 || arm64)

package shim

import "syscall"

// backlog is how many connections wait to be accepted; the kernel cuts it to net.core.somaxconn.
const backlog = 4096

// handOverSockets opens sockets in the sandbox's network and gives them to the executor. What cannot be had is said, and
// is no reason not to run: nothing is opened by it.
func (p Plan) handOverSockets(sockets []Socket, first int) {
	for i, s := range sockets {
		fd, errno := s.open()
		if errno != 0 {
			_ = record(FailedRecord, first+i, -1)
			continue
		}
		_ = record(SocketRecord, first+i, fd)
		_ = syscall.Close(fd)
	}
}

// open opens a socket; one that listens does so already.
func (s Socket) open() (int, syscall.Errno) {
	kind := syscall.SOCK_STREAM
	if s.Packet {
		kind = syscall.SOCK_DGRAM
	}
	family, address := s.sockaddr()
	fd, err := syscall.Socket(family, kind|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err.(syscall.Errno)
	}
	if !s.Packet {
		_ = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)
	}
	if family == syscall.AF_INET6 {
		_ = syscall.SetsockoptInt(fd, syscall.IPPROTO_IPV6, syscall.IPV6_V6ONLY, 1)
	}
	if err = syscall.Bind(fd, address); err == nil && !s.Packet {
		err = syscall.Listen(fd, backlog)
	}
	if err != nil {
		_ = syscall.Close(fd)
		return -1, err.(syscall.Errno)
	}
	return fd, 0
}

func (s Socket) sockaddr() (family int, address syscall.Sockaddr) {
	if len(s.Address) == 4 {
		a := &syscall.SockaddrInet4{Port: s.Port}
		copy(a.Addr[:], s.Address)
		return syscall.AF_INET, a
	}
	a := &syscall.SockaddrInet6{Port: s.Port}
	copy(a.Addr[:], s.Address)
	return syscall.AF_INET6, a
}

// readRights reads the first bytes of a message, with the descriptor that came with them, or -1.
func readRights(b []byte) (n, fd int) {
	rights := make([]byte, syscall.CmsgSpace(4))
	n, more, _, _, err := syscall.Recvmsg(ControlFD, b, rights, syscall.MSG_CMSG_CLOEXEC)
	for err == syscall.EINTR {
		n, more, _, _, err = syscall.Recvmsg(ControlFD, b, rights, syscall.MSG_CMSG_CLOEXEC)
	}
	if err != nil || more == 0 {
		return n, -1
	}
	messages, err := syscall.ParseSocketControlMessage(rights[:more])
	if err != nil || len(messages) != 1 {
		return n, -1
	}
	fds, err := syscall.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return n, -1
	}
	return n, fds[0]
}

// record writes a record on ControlFD, with a descriptor unless that is -1 (unix(7), SCM_RIGHTS).
func record(kind byte, number, fd int) syscall.Errno {
	var rights []byte
	if fd >= 0 {
		rights = syscall.UnixRights(fd)
	}
	err := syscall.Sendmsg(ControlFD, []byte{kind, byte(number), byte(number >> 8), 0}, rights, nil, 0)
	if err != nil {
		return err.(syscall.Errno)
	}
	return 0
}
