//go:build unix

package guard

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"strings"

	"code.sidecar.dev/workspace/locked"
)

// A multi-pack-index names the packs that lie beside it (gitformat-pack(5)), and git takes a path for a name: "git multi-pack-index
// expire", which git maintenance does every day, removes those packs of which it takes no object, wherever they lie. One that is
// made in layers is a folder of such files.
const (
	packFolder = "objects/pack"
	packIndex  = packFolder + "/multi-pack-index"
	packLayers = packFolder + "/multi-pack-index.d"
)

const whyPacks = "git removes packs that it names, outside the git directory; without it git makes a new one"

// judgePackIndexes looks at those of an opened git directory, but for those that spare says are of no interest.
func judgePackIndexes(fd int, spare func(name string, st stamp) bool) (list []*charge) {
	for _, name := range packIndexes(fd) {
		st := lookAt(fd, name)
		if !st.exists || st.link() || spare(name, st) { // a link is a charge of its own
			continue
		}
		if namesOdd(fd, name) {
			list = append(list, &charge{name: name, st: st, doubtful: true, reason: whyPacks})
		}
	}
	return list
}

// packIndexes are the files that may be one in an opened git directory.
func packIndexes(fd int) []string {
	names := []string{packIndex}
	for _, name := range entriesOf(fd, packLayers, mostKept) {
		if strings.HasSuffix(name, ".midx") {
			names = append(names, packLayers+"/"+name)
		}
	}
	return names
}

// namesOdd says that a multi-pack-index names what lies elsewhere, or may do so to git. What git would not take for one does no harm.
func namesOdd(dir int, path string) bool {
	up, name := split(path)
	in, err := folderIn(dir, up)
	if err != nil {
		return true
	}
	defer locked.Close(in)
	fd, err := locked.File(in, name, fileFlags)
	if err != nil {
		return locked.Refused(err)
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	head := make([]byte, 12)
	if _, err := f.ReadAt(head, 0); err != nil || !bytes.HasPrefix(head, []byte("MIDX")) {
		return false
	}
	chunks, packs := int(head[6]), binary.BigEndian.Uint32(head[8:])
	table := make([]byte, 12*chunks)
	if _, err := f.ReadAt(table, 12); err != nil {
		return true
	}
	found := false
	for ; len(table) > 0; table = table[12:] {
		if string(table[:4]) != "PNAM" {
			continue
		}
		at := binary.BigEndian.Uint64(table[4:])
		if at > uint64(info.Size()) || namesElsewhere(io.NewSectionReader(f, int64(at), info.Size()-int64(at)), packs) { //nolint:gosec // no more than the size
			return true
		}
		found = true
	}
	return !found
}

// namesElsewhere reads as many names as there are packs; git goes on behind the end of their chunk.
func namesElsewhere(in io.Reader, packs uint32) bool {
	r := bufio.NewReaderSize(in, 1<<12) // longer than any name
	for range packs {
		name, err := r.ReadSlice(0)
		if err != nil && !errors.Is(err, io.EOF) || bytes.IndexByte(name, '/') >= 0 {
			return true
		}
		if err != nil {
			return false
		}
	}
	return false
}
