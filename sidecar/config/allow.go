package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"code.sidecar.dev/sidecar/protocol"
)

// newFile is what a file of the person begins with that sidecar makes.
const newFile = "# sidecar's settings. What is allowed here is allowed in every project.\n"

// Allow adds a name, with its subdomains and every method, to network.approved in a file of the person, which is
// made where it is missing. Whatever else is in the file stays as it is written. A name that the file allows already
// changes nothing; one that it allows with certain methods only is an error. Of several that write at once none is lost.
func Allow(file, domain string) error {
	return change(file, domain, "allow", allowing)
}

// Disallow takes a name out of network.approved again. A list that is empty then stays, and allows nothing. A name
// that is not there changes nothing.
func Disallow(file, domain string) error {
	return change(file, domain, "no longer allow", disallowing)
}

// wanting says what the names of a file become for a name's sake; it gets nil where none are set, and gives nil where
// that is to stay so.
type wanting func(had *Domains, name Domain) (*Domains, error)

func allowing(had *Domains, name Domain) (*Domains, error) {
	if had == nil {
		had = &Domains{}
	}
	methods, ok := had.allows(name.split())
	switch {
	case !ok:
		return had.with(name), nil
	case methods != nil:
		return nil, fmt.Errorf("has a rule for %s already, with methods of its own: change it there", quote(name.Name))
	}
	return had, nil
}

func disallowing(had *Domains, name Domain) (*Domains, error) {
	if had == nil {
		return nil, nil
	}
	return had.without(name), nil
}

func (d *Domains) with(name Domain) *Domains {
	return &Domains{Names: append(append([]Domain{}, d.Names...), name)}
}

func (d *Domains) without(name Domain) *Domains {
	left := &Domains{Names: []Domain{}}
	for _, have := range d.Names {
		if !have.same(name) {
			left.Names = append(left.Names, have)
		}
	}
	return left
}

// change reads the file, lets want say what its names become, and writes it in one step.
func change(file, domain, what string, want wanting) error {
	if err := (Domain{Name: domain}).check(raw{}); err != nil {
		return &protocol.Error{Kind: protocol.BadRequest, Message: err.Error(), Err: err}
	}
	real := resolve(file)
	if strings.HasPrefix(real, "/nix/store/") {
		return fmt.Errorf("cannot %s %s in %s: Nix made it (%s); set programs.sidecar.settings.network.approved "+
			"in the configuration that it is made of", what, quote(domain), file, real)
	}
	if err := os.MkdirAll(filepath.Dir(real), 0o700); err != nil {
		return unwritable(file, domain, what, err)
	}
	unlock, err := lockFolder(filepath.Dir(real))
	if err != nil {
		return unwritable(file, domain, what, err)
	}
	defer unlock()
	old, err := readOwn(real)
	if err != nil {
		return err
	}
	text, err := rewritten(file, old, Domain{Name: domain}, want)
	if err != nil || bytes.Equal(text, old) {
		return err
	}
	if err := replace(real, text); err != nil {
		return unwritable(file, domain, what, err)
	}
	return nil
}

func unwritable(file, domain, what string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("cannot %s %s in %s: %w; set network.approved there by hand", what, quote(domain), file, err)
}

// rewritten is the file's text with other names.
func rewritten(file string, old []byte, name Domain, want wanting) ([]byte, error) {
	had, err := domainsIn(file, old)
	if err != nil {
		return nil, err
	}
	wanted, err := want(had, name)
	if err != nil {
		return nil, &Error{File: file, Key: domainsKey, Problem: err.Error(), Err: err}
	}
	if wanted == nil || had != nil && had.String() == wanted.String() {
		return old, nil
	}
	if len(bytes.TrimSpace(old)) == 0 {
		old = []byte(newFile)
	}
	text, ok := edited(file, old, had, wanted)
	if !ok {
		return nil, &Error{File: file, Key: domainsKey, Problem: "written in a way that sidecar cannot change; set it by hand to " + wanted.String()}
	}
	return text, nil
}

// lockFolder holds off others that change files of a folder (flock(2)), also in other processes.
func lockFolder(folder string) (unlock func(), err error) {
	f, err := os.OpenFile(folder, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, syscall.EINTR) {
			f.Close()
			return nil, err
		}
	}
}

// replace puts a file in the place of another at once, with its mode.
func replace(path string, text []byte) error {
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".sidecar-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) //nolint:errcheck // after the rename there is none
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
