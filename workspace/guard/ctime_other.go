//go:build darwin || freebsd || netbsd

package guard

import "golang.org/x/sys/unix"

func ctimeOf(st *unix.Stat_t) int64 { return st.Ctim.Nano() }
