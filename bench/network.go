//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// download is how much one download is.
const download = 1 << 30

// served is a server of this machine, and the settings by which runs reach it under a name.
type served struct {
	port   int
	config string
	close  func()
}

// serve answers /big with a gigabyte and everything else with a few bytes.
func serve(dir string) (served, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return served{}, err
	}
	piece := make([]byte, 1<<20)
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/big" {
			_, _ = io.WriteString(w, "hello\n")
			return
		}
		w.Header().Set("Content-Length", strconv.Itoa(download))
		for sent := 0; sent < download; sent += len(piece) {
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
	})}
	go func() { _ = server.Serve(l) }()
	port := l.Addr().(*net.TCPAddr).Port
	config := filepath.Join(dir, "network.yaml")
	text := fmt.Sprintf("network:\n  allowed_domains: [bench.test]\n  hosts: {bench.test: \"127.0.0.1:%d\"}\n", port)
	return served{port, config, func() { _ = server.Close() }}, os.WriteFile(config, []byte(text), 0o600)
}

// network compares downloads and small requests through the filter with the same ones of a plain process.
func network(binary, dir string, rounds int) ([]row, error) {
	if _, err := exec.LookPath("curl"); err != nil {
		return []row{{what: "the network", got: "not measured: takes curl"}}, nil
	}
	s, err := serve(dir)
	if err != nil {
		return nil, err
	}
	defer s.close()
	ws := filepath.Join(dir, "small")
	inside := func(args ...string) ([]string, error) {
		return lines(exec.Command(binary, append([]string{"--config", s.config, "--workspace", ws, "exec", "--no-terminal", "--", "curl", "-sS", "-o", "/dev/null"}, args...)...))
	}
	outside := func(args ...string) ([]string, error) {
		return lines(exec.Command("curl", append([]string{"-sS", "--noproxy", "*", "-o", "/dev/null"}, args...)...))
	}
	defer func() { _ = exec.Command(binary, "--workspace", ws, "stop").Run() }()
	direct, filtered, err := downloads(outside, inside, s.port, min(rounds, 5))
	if err != nil {
		return nil, err
	}
	few, through, err := requests(outside, inside, s.port, rounds)
	if err != nil {
		return nil, err
	}
	failed, err := atOnce(inside)
	if err != nil {
		return nil, err
	}
	share, added := filtered/direct, through-few
	return []row{
		{what: "1 GiB from loopback, no sandbox", got: fmt.Sprintf("%.0f", direct/(1<<20)), unit: " MiB/s"},
		{what: "1 GiB through the filter", got: fmt.Sprintf("%.0f", filtered/(1<<20)), unit: " MiB/s"},
		{what: "through the filter / direct", got: fmt.Sprintf("%.2f", share), want: "at least 0.50", met: share >= 0.5},
		{what: "the filter adds to a request", got: ms(added), unit: " ms", want: "under 1 ms", met: added < time.Millisecond},
		{what: "500 connections at once, failed", got: strconv.Itoa(failed), want: "0", met: failed == 0},
	}, nil
}

func lines(c *exec.Cmd) ([]string, error) {
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	defer stop()
	context.AfterFunc(ctx, func() { _ = c.Process.Kill() })
	out, err := c.Output()
	return strings.Fields(string(out)), err
}

// curl is a call of curl, which prints what -w asks for.
type curl func(args ...string) ([]string, error)

// downloads are the medians of both ways, in bytes a second, in turns.
func downloads(outside, inside curl, port, rounds int) (direct, filtered float64, err error) {
	var speeds [2][]float64
	for range rounds {
		for i, way := range []func() ([]string, error){
			func() ([]string, error) {
				return outside("-w", "%{speed_download}", fmt.Sprintf("http://127.0.0.1:%d/big", port))
			},
			func() ([]string, error) { return inside("-w", "%{speed_download}", "http://bench.test/big") },
		} {
			out, err := way()
			if err != nil {
				return 0, 0, err
			}
			speed, err := strconv.ParseFloat(out[0], 64)
			if err != nil {
				return 0, 0, err
			}
			speeds[i] = append(speeds[i], speed)
		}
	}
	for i := range speeds {
		slices.Sort(speeds[i])
	}
	return speeds[0][rounds/2], speeds[1][rounds/2], nil
}

// requests are the medians of a small request on a connection that stands: the first of each call, which connects, is
// left out.
func requests(outside, inside curl, port, rounds int) (direct, filtered time.Duration, err error) {
	many := func(url string) []string {
		args := []string{"-w", "%{time_total}\\n"}
		for range rounds + 1 {
			args = append(args, "-o", "/dev/null", url)
		}
		return args
	}
	var medians [2]time.Duration
	for i, call := range []func() ([]string, error){
		func() ([]string, error) { return outside(many(fmt.Sprintf("http://127.0.0.1:%d/", port))...) },
		func() ([]string, error) { return inside(many("http://bench.test/")...) },
	} {
		out, err := call()
		if err != nil {
			return 0, 0, err
		}
		var times []time.Duration
		for _, text := range out[1:] {
			seconds, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return 0, 0, err
			}
			times = append(times, time.Duration(seconds*float64(time.Second)))
		}
		slices.Sort(times)
		medians[i] = times[len(times)/2]
	}
	return medians[0], medians[1], nil
}

// atOnce makes 500 requests at the same time, in one run, and counts those that fail.
func atOnce(inside curl) (failed int, err error) {
	out, err := inside("-Z", "--parallel-max", "500", "--parallel-immediate", "-w", "%{http_code}\\n", "http://bench.test/[1-500]")
	if err != nil && len(out) == 0 {
		return 0, err
	}
	good := 0
	for _, code := range out {
		if code == "200" {
			good++
		}
	}
	return 500 - good, nil
}
