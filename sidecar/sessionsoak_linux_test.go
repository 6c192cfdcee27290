package sidecar_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// BenchmarkCalls is what a call of a session costs, and what bubblewrap alone does for the same program.
func BenchmarkCalls(b *testing.B) {
	for _, c := range []struct {
		language, code string
		plain          []string
	}{
		{"python", "1", []string{"/usr/bin/python3", "-c", "1"}}, {"node", "1", []string{"/usr/bin/node", "-e", "1"}}, {"bash", ":", []string{"/bin/bash", "-c", ":"}},
	} {
		k := newKept(b, nil)
		b.Run(c.language+"/session", func(b *testing.B) {
			k.call(c.language, "s", c.code) // which starts it
			for b.Loop() {
				k.call(c.language, "s", c.code)
			}
		})
		b.Run(c.language+"/bwrap", func(b *testing.B) {
			for b.Loop() {
				if err := exec.Command("bwrap", append([]string{"--unshare-all", "--ro-bind", "/", "/", "--"}, c.plain...)...).Run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestAThousandCallsLeakNothing: neither descriptors, nor goroutines, processes, files or much memory.
func TestAThousandCallsLeakNothing(t *testing.T) {
	k := newKept(t, nil)
	call := func(n int) {
		for range n {
			for language, code := range map[string]string{"python": "import subprocess\nsubprocess.run(['true'])\nx = b'x' * 1000", "node": "let x = 'x'.repeat(1000)", "bash": "x=$(echo x); cat <<<$x", "perl": "$x = `echo x`; print $x", "ruby": "x = `echo x`; puts x"} {
				if r := k.call(language, "s", code); r.ExitCode != 0 || r.Session.Ended != "" {
					t.Fatalf("%s: %+v", language, r)
				}
			}
		}
	}
	call(20)
	before := usage(t)
	call(313)
	for until := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		after := usage(t)
		if after.descriptors <= before.descriptors && after.goroutines <= before.goroutines && after.processes <= before.processes {
			if grown := after.heap - before.heap; grown > 20<<20 {
				t.Errorf("the heap has grown by %d bytes", grown)
			}
			return
		}
		if time.Now().After(until) {
			t.Fatalf("before %+v, after %+v", before, after)
		}
	}
}

type used struct {
	descriptors, goroutines, processes int
	heap                               int64
}

func usage(t *testing.T) used {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return used{len(fds), runtime.NumGoroutine(), children(t), int64(m.HeapAlloc)}
}

// children counts this process's descendants.
func children(t *testing.T) (n int) {
	t.Helper()
	list := []string{"self"}
	for len(list) > 0 {
		tasks, _ := filepath.Glob("/proc/" + list[0] + "/task/*/children")
		list = list[1:]
		for _, task := range tasks {
			text, _ := os.ReadFile(task)
			list = append(list, strings.Fields(string(text))...)
			n += len(strings.Fields(string(text)))
		}
	}
	return n
}
