package sidecar

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"code.sidecar.dev/sidecar/protocol"
)

func TestCaptureKeepsHeadAndTail(t *testing.T) {
	file := func() (*os.File, error) { return os.Create(filepath.Join(t.TempDir(), "out")) }
	for _, tt := range []struct {
		name   string
		writes []string
		want   string
		bytes  int64
		cut    bool
	}{
		{"nothing", nil, "", 0, false},
		{"all of a short one", []string{"abc", "def"}, "abcdef", 6, false},
		{"exactly the limit", []string{"0123456789"}, "0123456789", 10, false},
		{"head and tail of a long one", []string{"0123456789", "abcdefghij"}, "01234\n… 10 bytes left out, the whole is in FILE …\nfghij", 20, true},
		{"written in one piece", []string{"0123456789abcdefghij"}, "01234\n… 10 bytes left out, the whole is in FILE …\nfghij", 20, true},
		{"no UTF-8", []string{"a\xffb"}, "a\uFFFDb", 3, false},
		{"a character across the cut", []string{"0123\u20ac", "56789", "\u20acabc"}, "0123\n… 8 bytes left out, the whole is in FILE …\nabc", 18, true},
		{"a character split between writes", []string{"\xe2\x82", "\xac"}, "\u20ac", 3, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := &capture{limit: 10, spillAt: 10, open: file}
			for _, w := range tt.writes {
				if n, err := c.Write([]byte(w)); n != len(w) || err != nil {
					t.Fatal(n, err)
				}
			}
			got := c.output()
			want := protocol.Output{Text: strings.Replace(tt.want, "FILE", got.File, 1), Bytes: tt.bytes, Truncated: tt.cut, File: got.File}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if !tt.cut {
				return
			}
			whole, err := os.ReadFile(got.File)
			if err != nil || string(whole) != strings.Join(tt.writes, "") {
				t.Errorf("the file has %q (%v)", whole, err)
			}
		})
	}
}

func TestCaptureSaysThatTheWholeCouldNotBeStored(t *testing.T) {
	c := &capture{limit: 4, spillAt: 4, open: func() (*os.File, error) { return nil, errors.New("disk full") }}
	_, _ = c.Write([]byte("0123456789"))
	if got := c.output(); !strings.Contains(got.Text, "could not be stored: disk full") || got.File != "" {
		t.Errorf("%+v", got)
	}
}

// An edge may show less than the result holds, and needs the file to name.
func TestCaptureHasAFileBeforeItIsTruncated(t *testing.T) {
	c := &capture{limit: 10, spillAt: 4, open: func() (*os.File, error) { return os.Create(filepath.Join(t.TempDir(), "out")) }}
	_, _ = c.Write([]byte("012345"))
	if got := c.output(); got.Truncated || got.Text != "012345" || got.File == "" {
		t.Errorf("%+v", got)
	}
}
