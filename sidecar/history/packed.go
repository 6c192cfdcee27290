package history

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"database/sql/driver"
	"fmt"
	"io"
	"sync"
)

// packed is a text that is kept deflated (RFC 1951): records are much alike in themselves. It also keeps what searches
// through files, and what looks there for the traces of an attack, from taking the history of a run for its work.
type packed string

// packs is set to false by tests that look at the bytes of the database.
var packs = true

// deflaters are used again: each is some hundred kilobytes.
var deflaters = sync.Pool{New: func() any {
	w, err := flate.NewWriter(io.Discard, flate.BestSpeed)
	if err != nil {
		panic(err) // the level is known to be right
	}
	return w
}}

// Value is the text for the database (driver.Valuer).
func (p packed) Value() (driver.Value, error) {
	if p == "" || !packs {
		return string(p), nil
	}
	w := deflaters.Get().(*flate.Writer)
	defer deflaters.Put(w)
	var out bytes.Buffer
	w.Reset(&out)
	if _, err := io.WriteString(w, string(p)); err != nil {
		return nil, err
	}
	err := w.Close()
	return out.Bytes(), err
}

// lastPacked is the text that was packed last, where the next one is mostly the same: a run's policy. It is for one goroutine
// at a time.
type lastPacked struct {
	sum   [sha256.Size]byte
	value driver.Value
}

// of is a text, of which that is the sum, packed.
func (l *lastPacked) of(sum [sha256.Size]byte, text string) (driver.Value, error) {
	if l.value != nil && l.sum == sum {
		return l.value, nil
	}
	value, err := packed(text).Value()
	if err == nil {
		l.sum, l.value = sum, value
	}
	return value, err
}

// maxUnpacked bounds what a damaged or forged text can take up: code, outputs and policies are smaller.
const maxUnpacked = 1 << 30

// Scan takes the text from the database (sql.Scanner).
func (p *packed) Scan(from any) error {
	switch v := from.(type) {
	case string:
		*p = packed(v)
	case []byte:
		text, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(v)), maxUnpacked))
		*p = packed(text)
		if err != nil {
			return fmt.Errorf("the history has a text that cannot be read: %w", err)
		}
	case nil:
		*p = ""
	default:
		return fmt.Errorf("the history has a %T in the place of a text", from)
	}
	return nil
}
