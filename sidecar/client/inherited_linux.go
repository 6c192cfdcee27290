package client

import (
	"math"

	"golang.org/x/sys/unix"
)

// keepInherited has no program that we start get the descriptors that we were started with; those of Go's own are not
// passed on anyway. Kernels before 5.11 lack the call; there they are passed on.
func keepInherited() { _ = unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) }
