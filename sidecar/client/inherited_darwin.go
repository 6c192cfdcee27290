package client

import "syscall"

// keepInherited has no program that we start get the descriptors that we were started with.
func keepInherited() {
	for fd := 3; fd < 256; fd++ {
		syscall.CloseOnExec(fd)
	}
}
