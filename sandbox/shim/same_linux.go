//go:build linux && (amd64 || arm64)

package shim

import "syscall"

// replaced is the first place at which something else is shown than was meant; "" is none.
func (p Plan) replaced() (path string, errno syscall.Errno) {
	for _, s := range p.Same {
		var st syscall.Stat_t
		if err := syscall.Lstat(s.Path, &st); err != nil {
			return s.Path, err.(syscall.Errno)
		}
		if st.Dev != s.Dev || st.Ino != s.Ino {
			return s.Path, syscall.ESTALE
		}
	}
	return "", 0
}
