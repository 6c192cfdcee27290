package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // npm's
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// internet is a desk with an internet of its own: good.test may be reached, read.test only be read, bad.test is nowhere
// in the settings.
type internet struct {
	*desk
	config string
}

const settings = `network:
  allowed_domains: {good.test: "*", read.test: [GET, HEAD]}
  hosts: {"good.test:80": %[1]s, "read.test:80": %[1]s, "bad.test:80": %[1]s, "good.test:443": %[2]s, "read.test:443": %[2]s, "bad.test:443": %[2]s}
`

func newInternet(t *testing.T, handler http.Handler) *internet {
	t.Helper()
	d := newDesk(t)
	authority, leaf := certificates(t, "good.test", "read.test", "bad.test")
	plain, secure := httptest.NewServer(handler), httptest.NewUnstartedServer(handler)
	secure.TLS = &tls.Config{Certificates: []tls.Certificate{leaf}, MinVersion: tls.VersionTLS12}
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(plain.Close)
	t.Cleanup(secure.Close)
	d.env = append(d.env, "SSL_CERT_FILE="+d.write(t, "../ca.pem", authority))
	return &internet{d, d.write(t, "../config.yaml", fmt.Sprintf(settings, plain.Listener.Addr(), secure.Listener.Addr()))}
}

// certificates are an authority's, as a file, and one of its for names.
func certificates(t *testing.T, names ...string) (authority string, leaf tls.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ca := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	of := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: names[0]}, NotBefore: ca.NotBefore, NotAfter: ca.NotAfter, DNSNames: names}
	root, err := x509.CreateCertificate(rand.Reader, ca, ca, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, of, ca, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root})), tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// request is a client's start inside and what is to come of it: status 0, or else one of a failure; a text that it
// prints, and what is said on stderr to be denied ("" is nothing).
type request struct {
	command string
	fails   bool
	prints  string
	denied  string
}

// ask runs each in a sandbox of its own.
func (n *internet) ask(t *testing.T, requests []request) {
	t.Helper()
	for _, r := range requests {
		var stdout, stderr bytes.Buffer
		c := n.command("sidecar", "--config", n.config, "exec", "--", "sh", "-c", r.command)
		c.Stdout, c.Stderr = &stdout, &stderr
		err := c.Run()
		denied := strings.Contains(stderr.String(), "sidecar: denied: ")
		if (err != nil) != r.fails || !strings.Contains(stdout.String()+stderr.String(), r.prints) || denied != (r.denied != "") || !strings.Contains(stderr.String(), r.denied) {
			t.Errorf("%s: %v, want failure %v, %q and denied %q:\n%s%s", r.command, err, r.fails, r.prints, r.denied, stdout.String(), stderr.String())
		}
	}
}

// echo says what it was asked.
func echo(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body)
	_, _ = fmt.Fprintf(w, "%s %s%s %s\n", q.Method, q.Host, q.URL.Path, body)
}

func TestWebClients(t *testing.T) {
	t.Parallel()
	n := newInternet(t, http.HandlerFunc(echo))
	n.write(t, "u.py", "import sys, urllib.request as u\nprint(u.urlopen(u.Request(sys.argv[2], method=sys.argv[1])).read().decode())\n")
	n.write(t, "fetch.mjs", "const r = await fetch(process.argv[3], {method: process.argv[2]}); console.log(r.status, await r.text()); process.exit(r.ok ? 0 : 1)\n")
	n.write(t, "http.mjs", "import http from 'http'; import https from 'https'; const u = process.argv[3]; (u[4] == 's' ? https : http).request(u, {method: process.argv[2]}, r => { r.pipe(process.stdout); r.on('end', () => process.exit(r.statusCode == 200 ? 0 : 1)) }).end()\n")
	goClient(t, n.desk)
	for name, client := range map[string]string{"curl": "curl -sSf -X ", "urllib": "/usr/bin/python3 u.py ", "node fetch": "node --no-warnings fetch.mjs ", "node http": "node http.mjs ", "Go": "./client ",
		"curl, no proxy": "curl -sSf --noproxy '*' -X ", "Go, no proxy": "env -u http_proxy -u https_proxy -u HTTP_PROXY -u HTTPS_PROXY ./client "} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if program := strings.Fields(client)[0]; program != "./client" {
				need(t, program)
			}
			n.ask(t, []request{
				{client + "GET http://good.test/a", false, "GET good.test/a", ""}, {client + "GET https://good.test/a", false, "GET good.test/a", ""},
				{client + "POST http://good.test/a", false, "POST good.test/a", ""}, {client + "POST https://good.test/a", false, "POST good.test/a", ""},
				{client + "GET http://read.test/a", false, "GET read.test/a", ""}, {client + "GET https://read.test/a", false, "GET read.test/a", ""},
				{client + "POST http://read.test/a", true, "", "POST"}, {client + "POST https://read.test/a", true, "", "POST"},
				{client + "GET http://bad.test/a", true, "", "bad.test"}, {client + "GET https://bad.test/a", true, "", "bad.test"},
			})
		})
	}
}

// goClient compiles a static client, as tools of Go are.
func goClient(t *testing.T, d *desk) {
	t.Helper()
	d.write(t, "client.go", `package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
)

func main() {
	q, _ := http.NewRequest(os.Args[1], os.Args[2], nil)
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	_, _ = io.Copy(os.Stdout, r.Body)
	if r.StatusCode != 200 {
		os.Exit(1)
	}
}
`)
	build := exec.Command("go", "build", "-o", "client", "client.go")
	build.Dir, build.Env = d.project, append(os.Environ(), "CGO_ENABLED=0", "GO111MODULE=off", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func TestGitClone(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	libexec, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	n := newInternet(t, &cgi.Handler{Path: filepath.Join(strings.TrimSpace(string(libexec)), "git-http-backend"), Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1"}})
	n.host(t, "git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "first")
	n.host(t, "git", "clone", "-q", "--bare", ".", filepath.Join(root, "a.git"))
	n.ask(t, []request{
		{"git clone -q https://good.test/a.git one && git -C one log --format=%s", false, "first", ""},
		{"git clone -q http://good.test/a.git two && git -C two log --format=%s", false, "first", ""},
		{"git clone -q https://read.test/a.git three", true, "", "POST"}, // which cloning needs
		{"git clone -q https://bad.test/a.git four", true, "", "bad.test"},
		{"git clone -q http://bad.test/a.git five", true, "", "bad.test"},
	})
}

func TestPipDownload(t *testing.T) {
	t.Parallel()
	need(t, "pip")
	wheel := new(bytes.Buffer)
	z := zip.NewWriter(wheel)
	for name, text := range map[string]string{"thing.py": "", "thing-1.0.dist-info/RECORD": "", "thing-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: thing\nVersion: 1.0\n",
		"thing-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"} {
		f, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(f, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	_ = z.Close()
	n := newInternet(t, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if strings.HasSuffix(q.URL.Path, ".whl") {
			_, _ = w.Write(wheel.Bytes())
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<a href="/thing-1.0-py3-none-any.whl">thing-1.0-py3-none-any.whl</a>`)
	}))
	pip := "python3 -m pip download -q --no-deps --disable-pip-version-check --retries 0 --no-cache-dir -d out --index-url "
	n.env = append(n.env, "PATH="+os.Getenv("PATH")) // where a version manager may have it
	n.ask(t, []request{{pip + "https://read.test/simple thing && ls out", false, "thing-1.0", ""}, {pip + "https://bad.test/simple thing", true, "", "bad.test"}})
}

func TestNpmInstall(t *testing.T) {
	t.Parallel()
	need(t, "npm")
	pack := new(bytes.Buffer)
	z := gzip.NewWriter(pack)
	a := tar.NewWriter(z)
	text := `{"name":"thing","version":"1.2.3"}`
	_ = a.WriteHeader(&tar.Header{Name: "package/package.json", Mode: 0o644, Size: int64(len(text))})
	_, _ = io.WriteString(a, text)
	_ = a.Close()
	_ = z.Close()
	n := newInternet(t, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if strings.HasSuffix(q.URL.Path, ".tgz") {
			_, _ = w.Write(pack.Bytes())
			return
		}
		_, _ = fmt.Fprintf(w, `{"name":"thing","dist-tags":{"latest":"1.2.3"},"versions":{"1.2.3":{"name":"thing","version":"1.2.3","dist":{"tarball":"https://%s/thing-1.2.3.tgz","shasum":"%x"}}}}`,
			q.Host, sha1.Sum(pack.Bytes())) //nolint:gosec // npm's
	}))
	npm := " --fetch-retries=0 --no-update-notifier --no-audit --no-fund --registry "
	n.ask(t, []request{
		{"npm view thing version" + npm + "https://read.test/", false, "1.2.3", ""},
		{"npm install --prefix new thing" + npm + "https://read.test/ && cat new/node_modules/thing/package.json", false, `"version":"1.2.3"`, ""},
		{"npm view thing version" + npm + "https://bad.test/", true, "", "bad.test"},
	})
}
