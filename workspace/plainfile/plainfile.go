// Package plainfile reads small files that someone hostile may have made.
//
//	data, err := plainfile.Read("/project/.git/HEAD")
//
// A read cannot hang (FIFOs and devices are refused without being opened for long), cannot exhaust memory
// (at most [Limit] bytes) and does not follow a final symbolic link unless asked to. What it does not do:
// it does not keep a folder on the way from being exchanged for a link while it reads, so what it returns
// is a fact about some file, never a permission to trust it.
package plainfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// Limit is the most bytes that a file may have; git's own pointer files have the same bound (1 MiB in
// read_gitfile_gently).
const Limit = 1 << 20

// Errors that a caller may want to tell apart.
var (
	// ErrNotRegular says that the path is a folder, FIFO, socket or device.
	ErrNotRegular = errors.New("not a regular file")
	// ErrTooLarge says that the file is larger than [Limit].
	ErrTooLarge = fmt.Errorf("larger than %d bytes", Limit)
)

// Open opens path for reading if it is a regular file of at most [Limit] bytes and not a symbolic link.
func Open(path string) (*os.File, error) {
	// O_NONBLOCK: without it, opening a FIFO waits for a writer.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := check(f); err != nil {
		f.Close()
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return f, nil
}

func check(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return ErrNotRegular
	}
	if info.Size() > Limit {
		return ErrTooLarge
	}
	return nil
}

// Read returns the content of a file that [Open] accepts.
func Read(path string) ([]byte, error) {
	return ReadNoting(path, func(string, int) {}, func(string, error) {})
}

// ReadNoting is Read; it tells opened of the descriptor before it reads, or failed why there is none.
func ReadNoting(path string, opened func(path string, fd int), failed func(path string, err error)) ([]byte, error) {
	// The plain system calls: half the cost of os.File, which matters when 200 submodules are read.
	fd, err := open(path)
	if err != nil {
		failed(path, err)
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer syscall.Close(fd)
	opened(path, fd)
	data, err := readAll(fd)
	if err != nil {
		return nil, &os.PathError{Op: "read", Path: path, Err: err}
	}
	return data, nil
}

func open(path string) (int, error) {
	for {
		fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
		if err != syscall.EINTR {
			return fd, err
		}
	}
}

func readAll(fd int) ([]byte, error) {
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return nil, err
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return nil, ErrNotRegular
	}
	if st.Size > Limit {
		return nil, ErrTooLarge
	}
	return fill(fd, make([]byte, st.Size))
}

// fill reads as much as the file had: what it grows by meanwhile does not count.
func fill(fd int, buf []byte) ([]byte, error) {
	n := 0
	for n < len(buf) {
		m, err := syscall.Read(fd, buf[n:])
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return nil, err
		}
		if m <= 0 {
			break
		}
		n += m
	}
	return buf[:n], nil
}

// ReadThrough reads like [Read], but lets path itself be a chain of symbolic links: what git follows must be
// followed to know what git obeys. Loops end with an error.
func ReadThrough(path string) ([]byte, error) {
	data, err := Read(path)
	if !errors.Is(err, syscall.ELOOP) {
		return data, err
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	return Read(target)
}

// ReadHead returns at most max bytes of the beginning of a regular file of any size.
func ReadHead(path string, max int64) ([]byte, error) {
	return ReadHeadNoting(path, max, func(string, int) {}, func(string, error) {})
}

// ReadHeadNoting is ReadHead as ReadNoting is Read.
func ReadHeadNoting(path string, max int64, opened func(path string, fd int), failed func(path string, err error)) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		failed(path, err)
		return nil, err
	}
	defer f.Close()
	opened(path, int(f.Fd()))
	if err := check(f); err != nil && !errors.Is(err, ErrTooLarge) {
		return nil, &os.PathError{Op: "read", Path: path, Err: err}
	}
	return io.ReadAll(io.LimitReader(f, max))
}
