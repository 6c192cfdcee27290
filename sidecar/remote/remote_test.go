package remote

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"code.sidecar.dev/sidecar/protocol"
)

// ssh is a program of that name on PATH, a script in the place of the person's own.
func ssh(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ssh"), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
}

// What a host may do in the place of answering is an error of its kind, and nothing waits for it.
func TestHostsThatDoNotAnswer(t *testing.T) {
	for name, tc := range map[string]struct {
		script string
		kind   protocol.ErrorKind
		says   string
	}{
		"silent after its greeting": {`echo "sidecar connect 1"; exec sleep 600`, protocol.Gone, "no sign of life"},
		"ended at once":             {`echo "sidecar connect 1"`, protocol.Gone, "was lost before the end (it ended)"},
		"half a frame":              {`echo "sidecar connect 1"; printf 'o\0\0\0\011abc'`, protocol.Gone, "cut off"},
		"a frame too large":         {`echo "sidecar connect 1"; printf 'o\377\377\377\377abc'; sleep 600`, protocol.Gone, "want at most"},
		"an unknown frame":          {`echo "sidecar connect 1"; printf 'Z\0\0\0\0'; sleep 600`, protocol.Gone, `kind 'Z'`},
		"what was not sent":         {`echo "sidecar connect 1"; printf 't\0\0\0\0t\0\0\0\0t\0\0\0\0'; sleep 600`, protocol.Gone, "took what was not sent"},
		"another version":           {`echo "sidecar connect 77"; sleep 600`, protocol.Outdated, "have the same version"},
		"noise without end":         {`exec yes`, protocol.Outdated, "said nothing that this sidecar understands: \"y\\ny"},
		"another program":           {`echo "hello from 1998"; exit 3`, protocol.Outdated, "hello from 1998"},
		"no program":                {`exit 127`, protocol.BackendMissing, "has no sidecar to start"},
		"not reached":               {`exit 255`, protocol.Gone, "did not reach h"},
	} {
		t.Run(name, func(t *testing.T) {
			ssh(t, tc.script)
			_, err := Host{Name: "h", beat: 20 * time.Millisecond}.Do(t.Context(), Call{Output: func(protocol.Stream, []byte) {}})
			var known *protocol.Error
			if !errors.As(err, &known) || known.Kind != tc.kind || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("it is %v, want %s and %q", err, tc.kind, tc.says)
			}
		})
	}
}

// A host that is being reached can be given up.
func TestGivenUp(t *testing.T) {
	ssh(t, "exec sleep 600")
	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, stop)
	var known *protocol.Error
	if _, err := (Host{Name: "h"}).Do(ctx, Call{}); !errors.As(err, &known) || known.Kind != protocol.Cancelled {
		t.Errorf("it is %v, want that it was cancelled", err)
	}
}

// served is what Serve answers to bytes, with a program of /bin/sh in the place of sidecar.
func served(t *testing.T, in io.Reader) (*frames, error) {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	var out bytes.Buffer
	err := Serve(t.Context(), in, &out, "/bin/sh")
	text, found := strings.CutPrefix(out.String(), greeting)
	if !found {
		t.Fatalf("no greeting: %q", out.String())
	}
	return &frames{r: strings.NewReader(text)}, err
}

// request is a start and what follows it.
func request(t *testing.T, s Start, more ...func(*frames) error) *bytes.Buffer {
	t.Helper()
	var b bytes.Buffer
	f := &frames{w: &b}
	if err := f.writeJSON(kindStart, s); err != nil {
		t.Fatal(err)
	}
	for _, m := range more {
		if err := m(f); err != nil {
			t.Fatal(err)
		}
	}
	return &b
}

// A connection that ends, or that carries what it may not, hangs the command up.
func TestHangingUp(t *testing.T) {
	sleeps := Start{Args: []string{"-c", "echo begun; exec sleep 600"}}
	flood := func(f *frames) (err error) {
		for range 2 * ahead {
			err = errors.Join(err, f.write(kindInput, make([]byte, piece)))
		}
		return err
	}
	for name, in := range map[string]io.Reader{
		"the end":           request(t, sleeps),
		"half a frame":      io.MultiReader(request(t, sleeps), strings.NewReader("i\x00\x00")),
		"an unknown frame":  request(t, sleeps, func(f *frames) error { return f.write('Z', nil) }),
		"an unknown signal": request(t, sleeps, func(f *frames) error { return f.write(kindSignal, []byte("NOTHING")) }),
		"too much input":    request(t, sleeps, flood),
	} {
		t.Run(name, func(t *testing.T) {
			f, err := served(t, in)
			if err != nil {
				t.Fatal(err)
			}
			if last := lastOf(t, f); last.Status != 129 {
				t.Errorf("it ended with %+v, want SIGHUP's status", last)
			}
		})
	}
}

// lastOf is how it ended.
func lastOf(t *testing.T, f *frames) (last end) {
	t.Helper()
	for {
		k, b, err := f.read()
		if err != nil {
			t.Fatal(err)
		}
		if k == kindEnded {
			if err := json.Unmarshal(b, &last); err != nil {
				t.Fatal(err)
			}
			return last
		}
	}
}

// What is no start begins nothing.
func TestNoStart(t *testing.T) {
	for _, in := range []string{"", "S", "S\x00\x00\x00\x02[]", "i\x00\x00\x00\x00", "S\xff\xff\xff\xff", "GET / HTTP/1.1\r\n\r\n"} {
		if _, err := served(t, strings.NewReader(in)); err == nil {
			t.Errorf("%q is no error", in)
		}
	}
	f, err := served(t, request(t, Start{Dir: "~/not/there", Needed: true}))
	if err != nil {
		t.Fatal(err)
	}
	if last := lastOf(t, f); last.Error == nil || last.Error.Kind != protocol.BadRequest || !strings.Contains(last.Error.Message, `not/there`) {
		t.Errorf("a folder that is not there: %+v", last)
	}
}

func TestNamesOfHosts(t *testing.T) {
	for name, ok := range map[string]bool{
		"build1": true, "me@build1.example.com": true, "ssh://me@build1:2222": true, "::1": true, "fe80::1%eth0": true, "w\u00fcrzburg": true,
		"": false, "-oProxyCommand=x": false, "me@-oProxyCommand=x": false, "a b": false, "a\nb": false, "a;b": false, "$(a)": false, "`a`": false, "a'b": false, "a|b": false, "a\x00b": false,
	} {
		if err := checkName(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// Whatever a host prints is read without a panic, within bounds, and what was written is read as it was.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("Welcome\nsidecar connect 1\no\x00\x00\x00\x02hix\x00\x00\x00\x0c{\"status\":3}"))
	f.Add([]byte("sidecar connect 2\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bufio.NewReader(bytes.NewReader(b))
		if _, err := greeted(r); err == nil {
			_, _ = (&frames{r: r, w: io.Discard}).follow(Call{Output: func(protocol.Stream, []byte) {}})
		}
		var sent bytes.Buffer
		n, err := sends{&frames{w: &sent}, kindOutput}.Write(b)
		if n != len(b) || err != nil {
			t.Fatalf("%d of %d: %v", n, len(b), err)
		}
		var got []byte
		for back := (&frames{r: &sent}); ; {
			k, part, err := back.read()
			if err == io.EOF {
				break
			}
			if err != nil || k != kindOutput {
				t.Fatalf("%q: %v", k, err)
			}
			got = append(got, part...)
		}
		if !bytes.Equal(got, b) {
			t.Fatalf("%q came as %q", b, got)
		}
	})
}
