// Package place says where the sidecar of a workspace is to be met: a unix socket in a folder that only its user can
// enter, at a path that follows from the workspace's root alone, and a lock that only one process holds.
//
//	p, err := place.Of("/home/me/project")
//	conn, err := p.Dial(ctx)          // a client
//	listener, lock, err := p.Listen() // the sidecar
//
// Both ends check that the other belongs to the same user. What is said on the socket is package rpc's matter.
package place

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/protocol"
)

// Place is where one workspace's sidecar is met. It need not be there.
type Place struct {
	// Socket and Lock are absolute; both lie in a folder of mode 0700.
	Socket, Lock string
}

const (
	socketSuffix = ".sock"
	lockSuffix   = ".lock"
)

// Of is the place of the workspace with the given root, which has its links resolved. It makes the folder.
func Of(root string) (Place, error) {
	dir, err := config.RuntimeDir()
	if err != nil {
		return Place{}, folderError(err)
	}
	return in(dir, root), nil
}

func in(dir, root string) Place {
	sum := sha256.Sum256([]byte(root))
	base := filepath.Join(dir, hex.EncodeToString(sum[:8]))
	return Place{Socket: base + socketSuffix, Lock: base + lockSuffix}
}

// Name is the name of the workspace's files: it follows from the root alone.
func (p Place) Name() string { return strings.TrimSuffix(filepath.Base(p.Lock), lockSuffix) }

func folderError(err error) error {
	return &protocol.Error{Kind: protocol.Denied, Message: fmt.Sprintf("the folder for sidecar's sockets cannot be used: %v", err),
		Hint: "it has to be a folder of your own that you can write to; remove or mend what is there", Err: err}
}

// All are the places where a socket is, of whatever workspace, live or not.
func All() ([]Place, error) {
	dir, err := config.RuntimeDir()
	if err != nil {
		return nil, folderError(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, folderError(err)
	}
	var out []Place
	for _, e := range entries {
		if base, ok := strings.CutSuffix(e.Name(), socketSuffix); ok {
			base = filepath.Join(dir, base)
			out = append(out, Place{Socket: base + socketSuffix, Lock: base + lockSuffix})
		}
	}
	return out, nil
}

// Nobody says that an error of Dial means that no sidecar listens there.
func Nobody(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)
}

// Dial connects to the sidecar, if one listens (see Nobody), and makes sure that it is the same user's.
func (p Place) Dial(ctx context.Context) (net.Conn, error) {
	address, done, err := address(p.Socket)
	if err != nil {
		return nil, err
	}
	defer done()
	conn, err := new(net.Dialer).DialContext(ctx, "unix", address)
	if err != nil {
		return nil, err
	}
	if err := SameUser(conn); err != nil {
		_ = conn.Close()
		return nil, &protocol.Error{Kind: protocol.Denied, Message: fmt.Sprintf("the socket %s: %v", p.Socket, err),
			Hint: "somebody else's program listens there; remove the socket, and see who can write to its folder", Err: err}
	}
	return conn, nil
}

// ErrHeld says that another process serves this workspace.
var ErrHeld = errors.New("another sidecar serves this workspace")

// Held is the lock on a place, and the listener on its socket.
type Held struct {
	net.Listener
	place  Place
	lock   *os.File
	socket os.FileInfo
	retire sync.Once
	leave  sync.Once
}

// Listen takes the place: the lock, then the socket, of which a stale one is removed. The error is ErrHeld when
// another process has it.
func (p Place) Listen() (*Held, error) {
	lock, err := p.acquire()
	if err != nil {
		return nil, err
	}
	held := &Held{place: p, lock: lock}
	if held.Listener, err = p.listen(); err == nil {
		held.socket, err = os.Lstat(p.Socket)
	}
	if err != nil {
		held.Leave()
		return nil, err
	}
	return held, nil
}

func (p Place) listen() (net.Listener, error) {
	if err := os.Remove(p.Socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, folderError(err)
	}
	address, done, err := address(p.Socket)
	if err != nil {
		return nil, err
	}
	defer done()
	l, err := net.Listen("unix", address)
	if err != nil {
		return nil, folderError(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false) // by then the path may be a successor's
	return l, nil
}

// acquire locks the lock's file. It may be removed by who held it before, so it counts only if it is still there.
func (p Place) acquire() (*os.File, error) {
	for {
		f, err := os.OpenFile(p.Lock, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
		if err != nil {
			return nil, folderError(err)
		}
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil && same(f, p.Lock) {
			return f, nil
		}
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, ErrHeld
		}
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return nil, folderError(err)
		}
	}
}

func same(f *os.File, path string) bool {
	have, err1 := f.Stat()
	there, err2 := os.Lstat(path)
	return err1 == nil && err2 == nil && os.SameFile(have, there)
}

// IsThere says whether the socket is still where clients look for it: nobody can come where somebody removed it.
func (h *Held) IsThere() bool {
	info, err := os.Lstat(h.place.Socket)
	return err == nil && os.SameFile(info, h.socket)
}

// Retire gives the place to a successor, and goes on listening beside it, under a name with this process's number,
// so that whoever lists all places (All) still finds what goes on here.
func (h *Held) Retire() {
	h.retire.Do(func() {
		aside := strings.TrimSuffix(h.place.Socket, socketSuffix) + "-" + strconv.Itoa(os.Getpid()) + socketSuffix
		if h.socket != nil && h.IsThere() && os.Rename(h.place.Socket, aside) == nil {
			h.place.Socket = aside
		}
		_ = os.Remove(h.place.Lock)
		_ = h.lock.Close()
	})
}

// Leave stops listening and leaves nothing behind; what is connected stays so.
func (h *Held) Leave() {
	h.Retire()
	h.leave.Do(func() {
		if h.socket != nil && h.IsThere() {
			_ = os.Remove(h.place.Socket)
		}
		if h.Listener != nil {
			_ = h.Close()
		}
	})
}

// Clear removes the socket and the lock that a dead sidecar left.
func (p Place) Clear() {
	if lock, err := p.acquire(); err == nil {
		_ = os.Remove(p.Socket)
		(&Held{place: p, lock: lock}).Leave()
	}
}
