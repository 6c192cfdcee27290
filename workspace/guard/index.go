//go:build unix

package guard

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"code.sidecar.dev/workspace/locked"
)

// indexes are a git directory's files of the paths that git has staged: the index, and what it shares when it is split
// (gitformat-index(5)). git takes no odd path into one, but does not look at those that it reads: "git restore ." writes
// where an entry says, ".git/hooks/x" and "../x" too, and "git add -u" stores what lies there.
const (
	indexFile    = "index"
	sharedPrefix = "sharedindex."
)

func isIndex(name string) bool { return name == indexFile || strings.HasPrefix(name, sharedPrefix) }

// judgeIndexes looks at the indexes of an opened git directory, but for those that spare says are of no interest: one of a
// hundred thousand files takes as long to read as a run. Shared are the names of shared ones that are known: among much else they
// are not found.
func judgeIndexes(fd int, shared []string, spare func(name string, st stamp) bool) (list []*charge) {
	there, _ := sharedIndexes(fd)
	names := slices.Concat([]string{indexFile}, shared, there)
	judged := map[string]bool{}
	for len(names) > 0 {
		name := names[0]
		names = names[1:]
		st := lookAt(fd, name)
		if judged[name] || !st.exists || st.link() || spare(name, st) { // a link is a charge of its own
			continue
		}
		judged[name] = true
		why, base := oddIndex(fd, name)
		if why != "" {
			list = append(list, &charge{name: name, st: st, doubtful: true, reason: why})
		}
		if base != "" {
			names = append(names, sharedPrefix+base)
		}
	}
	return list
}

// sharedIndexes are the names of the shared ones in a git directory; not all when there is too much else.
func sharedIndexes(fd int) (names []string, all bool) {
	entries := entriesOf(fd, ".", mostKept)
	for _, name := range entries {
		if strings.HasPrefix(name, sharedPrefix) && !isAside(name) {
			names = append(names, name)
		}
	}
	return names, len(entries) < mostKept
}

// oddIndex says what is wrong with an index; "" is nothing. What git would refuse to read does no harm, but what is not
// understood here might be understood there. base is the shared one that it stands on, in hexadecimal digits.
func oddIndex(dir int, name string) (why, base string) {
	fd, err := locked.File(dir, name, fileFlags)
	if locked.Refused(err) {
		return "an index that cannot be read, so that where it makes git write is not known; " + anew(name), ""
	}
	if err != nil {
		return "", ""
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return "", ""
	}
	r := &indexReader{in: bufio.NewReaderSize(f, 1<<16), hash: hashLength(dir), size: info.Size()}
	err = r.read()
	switch path := oddPath(""); {
	case err == nil:
		return "", r.base
	case errors.As(err, &path):
		return "git writes and reads files where its entry " + clip(string(path)) + " says; " + anew(name), r.base
	}
	return "an index that is not written the way git writes it (" + err.Error() + "), so that where it makes git write is not known; " + anew(name), r.base
}

// anew is how a person gets a new one.
func anew(name string) string {
	if name == indexFile {
		return "\"git reset\" makes a new one"
	}
	return "without the index that stands on it \"git reset\" makes a new one"
}

// hashLength is how many bytes a hash of the repository has (git-config(1), extensions.objectFormat). A file that is one index by
// the one length may be another by the other, so that git's own is to be taken. A linked worktree has the config of its repository.
func hashLength(dir int) int {
	text, st, err := readFile(dir, "config")
	if err != nil && !st.exists {
		text, _, _ = readFile(dir, "../../config")
	}
	settings, ok := parseConfig(text)
	if !ok && bytes.Contains(text, []byte("sha256")) {
		return 32
	}
	for _, s := range settings {
		if s.section == "extensions" && strings.EqualFold(s.key, "objectFormat") && s.value == "sha256" {
			return 32
		}
	}
	return 20
}

// oddPath is a path that git would not take into an index (verify_path in read-cache.c).
type oddPath string

func (p oddPath) Error() string { return "the entry " + string(p) }

var errIndex = errors.New("it is cut off or no index")

// indexReader reads an index as git does (read_index_from, create_from_disk in read-cache.c).
type indexReader struct {
	in   *bufio.Reader
	at   int64
	hash int
	// size is the file's, about.
	size int64
	// starts are where the entries begin, none beyond mostIndex; odd is the first path that is.
	starts []uint32
	odd    error
	// base is the shared index that it stands on.
	base string
	// names are of the last two entries.
	names [2][]byte
	// named is how many bytes all names have: those of version 4 may be far more than the file.
	named int64
}

// take reads some bytes, which are good until it is called again: indexes have many entries.
func (r *indexReader) take(n int) ([]byte, error) {
	if n <= r.in.Size() {
		b, err := r.in.Peek(n)
		if err != nil {
			return nil, errIndex
		}
		_, _ = r.in.Discard(n)
		r.at += int64(n)
		return b, nil
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r.in, b); err != nil {
		return nil, errIndex
	}
	r.at += int64(n)
	return b, nil
}

// read gives an oddPath only if the file is an index to its end.
func (r *indexReader) read() error {
	head, err := r.take(12)
	if err != nil || !bytes.HasPrefix(head, []byte("DIRC")) {
		return errIndex
	}
	version, count := binary.BigEndian.Uint32(head[4:]), binary.BigEndian.Uint32(head[8:])
	if version < 2 || version > 4 {
		return errIndex
	}
	r.starts = make([]uint32, 0, min(int64(count), min(r.size, mostIndex)/shortestEntry))
	var last []byte
	for range count {
		if last, err = r.entry(version, last); err != nil {
			return err
		}
	}
	if err := r.extensions(); err != nil {
		return err
	}
	return r.odd
}

// longestPath is what git takes for a path in an index at most: Linux has PATH_MAX for it.
const longestPath = 64 << 10

// mostIndex bounds an index with its names, in bytes: some million files have a tenth of it.
const mostIndex = 1 << 30

// shortestEntry of an index, in bytes.
const shortestEntry = 62

func (r *indexReader) entry(version uint32, last []byte) ([]byte, error) {
	start := r.at
	r.starts = append(r.starts, uint32(start)) //nolint:gosec // no more than mostIndex
	fixed, err := r.take(40 + r.hash + 2)
	if err != nil {
		return nil, err
	}
	mode, flags := binary.BigEndian.Uint32(fixed[24:]), binary.BigEndian.Uint16(fixed[40+r.hash:])
	if flags&0x4000 != 0 {
		if _, err := r.take(2); err != nil {
			return nil, err
		}
	}
	kept := 0
	if version == 4 {
		strip, err := r.varint()
		if err != nil || strip > uint64(len(last)) {
			return nil, errIndex
		}
		kept = len(last) - int(strip) //nolint:gosec // no more than len(last)
	}
	name, err := r.name(int(flags&0xfff), kept, last[:kept])
	if err != nil {
		return nil, err
	}
	if r.named += int64(len(name)); r.at+r.named > mostIndex {
		return nil, errIndex
	}
	if version < 4 { // padded with zeros, at least one
		size := (r.at - start) &^ 7
		if _, err := r.take(int(size + 8 - (r.at - start))); err != nil {
			return nil, err
		}
	} else if end, err := r.take(1); err != nil || end[0] != 0 {
		return nil, errIndex
	}
	if r.odd == nil && !isPlainPath(name, mode&0o170000 == 0o040000) {
		r.odd = oddPath(name)
	}
	return name, nil
}

// name reads what follows of a name whose beginning is kept. Its length is in the flags, unless it does not fit in there.
func (r *indexReader) name(length, kept int, begin []byte) ([]byte, error) {
	name := append(r.names[0][:0], begin...) // begin is of the other one
	defer func() { r.names[0], r.names[1] = r.names[1], name }()
	if length < 0xfff {
		if length < kept {
			return nil, errIndex
		}
		rest, err := r.take(length - kept)
		name = append(name, rest...)
		return name, err
	}
	for len(name) < longestPath {
		c, err := r.in.Peek(1)
		if err != nil {
			return nil, errIndex
		}
		if c[0] == 0 {
			return name, nil
		}
		name = append(name, c[0])
		_, _ = r.in.Discard(1)
		r.at++
	}
	return nil, errIndex
}

// varint is git's (varint.c).
func (r *indexReader) varint() (uint64, error) {
	var n uint64
	for i := range 9 {
		b, err := r.take(1)
		if err != nil {
			return 0, err
		}
		if i > 0 {
			n++
		}
		n = n<<7 | uint64(b[0]&0x7f)
		if b[0]&0x80 == 0 {
			return n, nil
		}
	}
	return 0, errIndex
}

// extensions reads to the hash at the end. IEOT tells git where to begin to read entries in parallel, and EOIE where to look for
// it: it must be where they begin, and end.
func (r *indexReader) extensions() error {
	end := r.at
	for {
		if rest, err := r.in.Peek(r.hash + 8); err != nil {
			if len(rest) != r.hash {
				return errIndex
			}
			return nil
		}
		head, err := r.take(8)
		if err != nil {
			return err
		}
		size := binary.BigEndian.Uint32(head[4:])
		if string(head[:4]) == "IEOT" {
			if size > 1<<20 { // git writes one block a thread
				return errIndex
			}
			body, err := r.take(int(size))
			if err != nil || !r.startsAt(body) {
				return errIndex
			}
			continue
		}
		if string(head[:4]) == "EOIE" && size == uint32(4+r.hash) { //nolint:gosec // 24 or 36
			body, err := r.take(int(size))
			if err != nil || int64(binary.BigEndian.Uint32(body)) != end {
				return errIndex
			}
			continue
		}
		if string(head[:4]) == "link" && int64(size) >= int64(r.hash) {
			body, err := r.take(r.hash)
			if err != nil {
				return err
			}
			r.base = hex.EncodeToString(body)
			size -= uint32(r.hash) //nolint:gosec // 20 or 32
		}
		n, err := io.CopyN(io.Discard, r.in, int64(size))
		if r.at += n; err != nil {
			return errIndex
		}
	}
}

// startsAt checks an IEOT: a version, then for each block where it begins and how many entries it has.
func (r *indexReader) startsAt(body []byte) bool {
	if len(body) < 4 || len(body)%8 != 4 {
		return false
	}
	next := 0
	for body = body[4:]; len(body) > 0; body = body[8:] {
		at, n := binary.BigEndian.Uint32(body), int(binary.BigEndian.Uint32(body[4:]))
		if n > 0 && (next >= len(r.starts) || r.starts[next] != at) {
			return false
		}
		next += n
	}
	return next == len(r.starts)
}

// isPlainPath is git's own rule for what it takes into an index; a folder of a sparse index ends with a slash. The entries of a
// split index that replace shared ones have no name.
func isPlainPath(name []byte, isFolder bool) bool {
	if len(name) == 0 {
		return true
	}
	if isFolder {
		name = bytes.TrimSuffix(name, []byte("/"))
	}
	for more := true; more; {
		var part []byte
		part, name, more = bytes.Cut(name, []byte("/"))
		if len(part) == 0 || bytes.IndexByte(part, 0) >= 0 {
			return false
		}
		switch first := part[0]; {
		case first == '.' && (len(part) == 1 || len(part) == 2 && part[1] == '.' || bytes.EqualFold(part, []byte(".git"))):
			return false
		case (first == 'g' || first == 'G') && bytes.EqualFold(part, []byte("git~1")):
			return false
		}
	}
	return true
}
