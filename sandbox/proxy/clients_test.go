package proxy

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/cgi"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// requireProgram skips where a real client is not installed.
func requireProgram(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skip("needs ", name)
	}
	return path
}

// desk is a place where programs run with the variables that the filter gives them and no others.
type desk struct {
	*world
	dir string
	env []string
}

// newDesk has good.test (every method), read.test (GET and HEAD) and bad.test (not allowed), all served by handler, and a
// port of its own.
func newDesk(t *testing.T, handler http.HandlerFunc) *desk {
	w := newWorld(t, mustMethods(t, map[string][]string{"good.test": {"*"}, "read.test": {"GET", "HEAD"}}))
	for _, name := range []string{"good.test", "read.test", "bad.test"} {
		w.serve(name, handler)
	}
	d := &desk{world: w, dir: t.TempDir()}
	bundle := filepath.Join(d.dir, "ca.pem")
	own, err := w.filter.CA()
	if err != nil {
		t.Fatal(err)
	}
	theirs, _ := w.pki.pem()
	d.write("ca.pem", string(theirs)+string(own))
	d.env = append(Environment(netip.MustParseAddrPort(w.proxy), bundle), "PATH="+os.Getenv("PATH"), "HOME="+d.dir, "LC_ALL=C")
	return d
}

func (d *desk) write(name, text string) {
	d.t.Helper()
	if err := os.WriteFile(filepath.Join(d.dir, name), []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// run returns what a program printed, and its exit status.
func (d *desk) run(env []string, argv ...string) (string, int) {
	ctx, cancel := context.WithTimeout(d.t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = d.dir, append(d.env[:len(d.env):len(d.env)], env...)
	out, _ := cmd.CombinedOutput()
	return string(out), cmd.ProcessState.ExitCode()
}

// call is a program's start and what is to come of it: status 0, or else one of its own for a failure, with a text.
type call struct {
	argv string
	fail bool
	text string
}

func (d *desk) calls(t *testing.T, env []string, calls []call) {
	t.Helper()
	for _, c := range calls {
		out, status := d.run(env, strings.Fields(c.argv)...)
		if (status != 0) != c.fail || !strings.Contains(out, c.text) {
			t.Errorf("%s: status %d, without %q:\n%s", c.argv, status, c.text, out)
		}
	}
}

func TestCurl(t *testing.T) {
	requireProgram(t, "curl")
	w := newDesk(t, nil)
	d := newDesk(t, w.site)
	socks := "-x socks5h://" + d.proxy + " "
	d.calls(t, nil, []call{
		{"curl -sS http://good.test/a", false, "GET good.test/a "}, {"curl -sS https://good.test/a", false, "GET good.test/a "},
		{"curl -sS --http2 http://good.test/a", false, "GET good.test/a "}, {"curl -sS -d x=1 https://good.test/a", false, "POST good.test/a x=1"},
		{"curl -sS https://read.test/a", false, "GET read.test/a "}, {"curl -sS -d x=1 https://read.test/a", false, "network.allowed_domains: {\"read.test\": [GET, HEAD, POST]}"},
		{"curl -sS http://bad.test/", false, "no rule allows bad.test"}, {"curl -sSf http://bad.test/", true, "403"},
		{"curl -sS https://bad.test/", true, "403"}, {"curl -sS http://u:p@good.test/a", false, "GET good.test/a "},
		{"curl -sS --connect-to good.test:443:bad.test:443 https://good.test/", true, "403"},
		{"curl -sS --connect-to bad.test:443:good.test:443 https://bad.test/", true, "unrecognized name"},
		{"curl -sS " + socks + "http://good.test/a", false, "GET good.test/a "}, {"curl -sS " + socks + "https://good.test/a", false, "GET good.test/a "},
		{"curl -sS " + socks + "https://read.test/a", false, "GET read.test/a "}, {"curl -sS " + socks + "-X DELETE https://read.test/a", false, "denied"},
		{"curl -sS " + socks + "http://bad.test/", true, "(2)"},
		{"curl -sS --noproxy * -x http://" + d.proxy + " http://127.0.0.1:1/", true, ""},
	})
}

func TestPython(t *testing.T) {
	requireProgram(t, "python3")
	w := newDesk(t, nil)
	d := newDesk(t, w.site)
	d.write("u.py", "import sys, urllib.request as u\nprint(u.urlopen(u.Request(sys.argv[2], method=sys.argv[1])).read().decode())\n")
	d.write("r.py", "import sys, requests\nr = requests.request(sys.argv[1], sys.argv[2])\nprint(r.status_code, r.text)\n")
	d.calls(t, pythonHome(), []call{
		{"python3 u.py GET http://good.test/a", false, "GET good.test/a"}, {"python3 u.py PUT https://good.test/a", false, "PUT good.test/a"},
		{"python3 u.py GET https://read.test/a", false, "GET read.test/a"}, {"python3 u.py PUT https://read.test/a", true, "HTTP Error 403"},
		{"python3 u.py GET http://bad.test/a", true, "HTTP Error 403"}, {"python3 u.py GET https://bad.test/a", true, "403 Forbidden"},
	})
	if _, status := d.run(pythonHome(), "python3", "-c", "import requests"); status != 0 {
		return
	}
	d.calls(t, pythonHome(), []call{
		{"python3 r.py GET https://good.test/a", false, "200 GET good.test/a"}, {"python3 r.py PUT https://read.test/a", false, "403 sidecar"},
	})
}

// pythonHome keeps the version manager that some machines have before python3.
func pythonHome() []string {
	return []string{"PYENV_ROOT=" + os.Getenv("PYENV_ROOT"), "PYTHONWARNINGS=ignore"}
}

func TestPip(t *testing.T) {
	requireProgram(t, "pip")
	wheel := new(bytes.Buffer)
	z := zip.NewWriter(wheel)
	for name, text := range map[string]string{
		"thing-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: thing\nVersion: 1.0\n",
		"thing-1.0.dist-info/WHEEL":    "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n", "thing-1.0.dist-info/RECORD": "", "thing.py": "",
	} {
		f, _ := z.Create(name)
		f.Write([]byte(text))
	}
	z.Close()
	d := newDesk(t, func(r http.ResponseWriter, q *http.Request) {
		if strings.HasSuffix(q.URL.Path, ".whl") {
			r.Write(wheel.Bytes())
			return
		}
		r.Header().Set("Content-Type", "text/html")
		fmt.Fprint(r, `<a href="/thing-1.0-py3-none-any.whl">thing-1.0-py3-none-any.whl</a>`)
	})
	pip := "pip download -q --no-deps --disable-pip-version-check --retries 0 --no-cache-dir -d out --index-url "
	d.calls(t, pythonHome(), []call{
		{pip + "https://read.test/simple thing", false, ""}, {pip + "https://good.test/simple thing", false, ""}, {pip + "https://bad.test/simple thing", true, "No matching distribution"},
	})
	if _, err := os.Stat(filepath.Join(d.dir, "out", "thing-1.0-py3-none-any.whl")); err != nil {
		t.Error(err)
	}
}

func TestNpm(t *testing.T) {
	requireProgram(t, "npm")
	d := newDesk(t, func(r http.ResponseWriter, q *http.Request) {
		fmt.Fprint(r, `{"name":"thing","dist-tags":{"latest":"1.2.3"},"versions":{"1.2.3":{"name":"thing","version":"1.2.3","dist":{"tarball":"x"}}}}`)
	})
	npm := "npm view thing version --fetch-retries=0 --no-update-notifier --registry "
	d.calls(t, nil, []call{
		{npm + "https://read.test/", false, "1.2.3"}, {npm + "http://good.test/", false, "1.2.3"}, {npm + "https://good.test/", false, "1.2.3"},
		{npm + "https://bad.test/", true, ""}, {npm + "http://bad.test/", true, "403"},
	})
}

func TestGit(t *testing.T) {
	git := requireProgram(t, "git")
	libexec, err := exec.Command(git, "--exec-path").Output()
	backend := filepath.Join(strings.TrimSpace(string(libexec)), "git-http-backend")
	if _, statErr := os.Stat(backend); err != nil || statErr != nil {
		t.Skip("needs git-http-backend")
	}
	root := t.TempDir()
	handler := &cgi.Handler{Path: backend, Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1"}}
	d := newDesk(t, handler.ServeHTTP)
	who := []string{"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@test", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@test", "GIT_TERMINAL_PROMPT=0"}
	d.calls(t, who, []call{
		{"git init -q src", false, ""}, {"git -C src commit -q --allow-empty -m first", false, ""}, {"git clone -q --bare src " + root + "/a.git", false, ""},
		{"git clone -q http://good.test/a.git one", false, ""}, {"git clone -q https://good.test/a.git two", false, ""},
		{"git -C two log --format=%s", false, "first"},
		// Cloning needs POST, which read.test does not have.
		{"git clone -q https://read.test/a.git three", true, "403"}, {"git clone -q https://bad.test/a.git four", true, "403"},
		{"git clone -q http://bad.test/a.git five", true, "403"},
	})
}

func TestGoCommand(t *testing.T) {
	requireProgram(t, "go")
	d := newDesk(t, func(r http.ResponseWriter, q *http.Request) {
		switch at := "/example.org/thing/@v/"; q.URL.Path {
		case at + "list":
			fmt.Fprintln(r, "v1.2.3")
		case at + "v1.2.3.info":
			fmt.Fprintln(r, `{"Version":"v1.2.3","Time":"2020-01-01T00:00:00Z"}`)
		case at + "v1.2.3.mod":
			fmt.Fprintln(r, "module example.org/thing")
		default:
			http.NotFound(r, q)
		}
	})
	env := []string{"GOFLAGS=-mod=mod -modcacherw", "GONOSUMDB=*", "GOTOOLCHAIN=local", "GOCACHE=" + d.dir + "/cache", "GOMODCACHE=" + d.dir + "/mod"}
	list := "go list -m -versions example.org/thing"
	d.write("go.mod", "module x\n")
	d.calls(t, append(env, "GOPROXY=https://read.test"), []call{{list, false, "v1.2.3"}})
	d.calls(t, append(env, "GOPROXY=https://good.test"), []call{{list, false, "v1.2.3"}})
	d.calls(t, append(env, "GOPROXY=https://bad.test"), []call{{list, true, "Forbidden"}})
}

// TestNode has fetch, which in older versions knows of no proxy: it looks the name up and comes to a listener.
func TestNode(t *testing.T) {
	requireProgram(t, "node")
	w := newDesk(t, nil)
	d := newDesk(t, w.site)
	script := `const dns = require('dns'), [, , at, url, method] = process.argv;
dns.lookup = (name, options, done) => options.all ? done(null, [{address: at, family: 4}]) : done(null, at, 4);
fetch(url, {method}).then(async r => console.log(r.status, await r.text()), e => { console.log(String(e.cause)); process.exit(1) })`
	d.write("f.js", script)
	for _, test := range []struct {
		name, method string
		port         uint16
		fail         bool
		text         string
	}{
		{"good.test", "GET", 443, false, "200 GET good.test"}, {"read.test", "GET", 443, false, "200 GET read.test"}, {"read.test", "POST", 443, false, "403 sidecar"},
		{"bad.test", "GET", 443, true, "alert"}, {"good.test", "GET", 80, false, "200 GET good.test"}, {"bad.test", "GET", 80, false, "403 sidecar"},
	} {
		at := d.listenAs(test.name, test.port)
		url := map[uint16]string{80: "http://", 443: "https://"}[test.port] + test.name + "/"
		out, status := d.run(nil, "node", "--no-warnings", "f.js", at, url, test.method)
		if (status != 0) != test.fail || !strings.Contains(out, test.text) {
			t.Errorf("%s %s: %d %s", test.method, url, status, out)
		}
	}
}

// listenAs listens on the real port of the address that stands for a name.
func (d *desk) listenAs(name string, port uint16) string {
	d.t.Helper()
	addr, _ := d.filter.names.address(name)
	l, err := netListen(addr, port)
	if err != nil {
		d.t.Skip("needs to listen on ports below 1024: ", err)
	}
	if l != nil {
		d.filter.ServeTransparent(l, port)
	}
	return addr.String()
}
