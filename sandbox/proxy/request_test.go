package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// recorder is a server that notes the bytes of each request and answers in the simplest way.
func (w *world) recorder(c net.Conn) {
	defer c.Close()
	r := bufio.NewReader(c)
	for {
		q, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		body, _ := io.ReadAll(q.Body)
		w.hear("%s %s%s cl=%d te=%v %q", q.Method, q.Host, q.RequestURI, q.ContentLength, q.TransferEncoding, body)
		fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
	}
}

// TestHostileRequests sends bytes that mean two things, or nothing, to the proxy port. Each has the statuses that come
// back, and what reached a server.
func TestHostileRequests(t *testing.T) {
	w := newWorld(t, mustMethods(t, map[string][]string{"good.test": {"*"}, "read.test": {"GET"}}))
	for _, name := range []string{"good.test", "read.test", "bad.test"} {
		w.serveRaw(name, 80, w.recorder)
	}
	get := "GET http://good.test/ HTTP/1.1\r\nHost: good.test\r\n"
	ok := "GET good.test/ cl=0 te=[] \"\""
	for _, test := range []struct {
		name, send string
		status     []int
		heard      []string
	}{
		{"plain", get + "\r\n", []int{200}, []string{ok}},
		{"trailing dot and capitals", "GET http://GOOD.test.:80/ HTTP/1.1\r\nHost: x\r\n\r\n", []int{200}, []string{ok}},
		{"Host disagrees: replaced, RFC 9112 3.2.2", "GET http://good.test/ HTTP/1.1\r\nHost: bad.test\r\n\r\n", []int{200}, []string{ok}},
		{"absolute form wins the other way", "GET http://bad.test/ HTTP/1.1\r\nHost: good.test\r\n\r\n", []int{403}, nil},
		{"two Hosts", get + "Host: bad.test\r\n\r\n", []int{400}, nil},
		{"Host with a space", "GET http://good.test/ HTTP/1.1\r\nHost: good.test bad.test\r\n\r\n", []int{400}, nil},
		{"space before the colon", "GET http://good.test/ HTTP/1.1\r\nHost : good.test\r\n\r\n", []int{400}, nil},
		{"no Host", "GET http://good.test/ HTTP/1.1\r\n\r\n", []int{400}, nil},
		{"userinfo", "GET http://good.test@bad.test/ HTTP/1.1\r\nHost: good.test\r\n\r\n", []int{400}, nil},
		{"userinfo the other way", "GET http://bad.test@good.test/ HTTP/1.1\r\nHost: good.test\r\n\r\n", []int{400}, nil},
		{"origin form", "GET / HTTP/1.1\r\nHost: good.test\r\n\r\n", []int{400}, nil},
		{"path of two slashes", "GET //bad.test/ HTTP/1.1\r\nHost: good.test\r\n\r\n", []int{400}, nil},
		{"other scheme", "GET ftp://good.test/ HTTP/1.1\r\nHost: good.test\r\n\r\n", []int{400}, nil},
		{"https to a proxy", "GET https://good.test/ HTTP/1.1\r\nHost: good.test\r\n\r\n", []int{400}, nil},
		{"percent in the name", "GET http://good.test%2fbad/ HTTP/1.1\r\nHost: good.test\r\n\r\n", []int{400}, nil},
		{"fragment", "GET http://good.test#@bad.test/ HTTP/1.1\r\nHost: good.test\r\n\r\n", []int{400}, nil},
		{"scheme without slashes", "GET http:http://bad.test/ HTTP/1.1\r\nHost: good.test\r\n\r\n", []int{400}, nil},
		{"backslash", "GET http://good.test\\@bad.test/ HTTP/1.1\r\nHost: good.test\r\n\r\n", []int{400}, nil},
		{"octal loopback", "GET http://0177.0.0.1/ HTTP/1.1\r\nHost: a\r\n\r\n", []int{403}, nil},
		{"decimal loopback", "GET http://2130706433/ HTTP/1.1\r\nHost: a\r\n\r\n", []int{403}, nil},
		{"IPv6 loopback", "GET http://[::1]:80/ HTTP/1.1\r\nHost: a\r\n\r\n", []int{403}, nil},
		{"mapped loopback", "GET http://[::ffff:127.0.0.1]/ HTTP/1.1\r\nHost: a\r\n\r\n", []int{403}, nil},
		{"zone", "GET http://[fe80::1%25lo]/ HTTP/1.1\r\nHost: a\r\n\r\n", []int{400}, nil},
		{"port 0", "GET http://good.test:0/ HTTP/1.1\r\nHost: a\r\n\r\n", []int{400}, nil},
		{"port beyond", "GET http://good.test:65616/ HTTP/1.1\r\nHost: a\r\n\r\n", []int{400}, nil},
		{"keep-alive, two hosts", get + "\r\nGET http://bad.test/ HTTP/1.1\r\nHost: bad.test\r\n\r\n", []int{200, 403}, []string{ok}},
		{"keep-alive, two methods", "GET http://read.test/ HTTP/1.1\r\nHost: read.test\r\n\r\nPOST http://read.test/ HTTP/1.1\r\nHost: read.test\r\nContent-Length: 0\r\n\r\n",
			[]int{200, 403}, []string{"GET read.test/ cl=0 te=[] \"\""}},
		{"TE and CL", "POST http://good.test/ HTTP/1.1\r\nHost: good.test\r\nContent-Length: 100\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n" + get + "\r\n",
			[]int{200, 200}, []string{"POST good.test/ cl=-1 te=[chunked] \"abc\"", ok}},
		{"two CLs", "POST http://good.test/ HTTP/1.1\r\nHost: good.test\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", []int{400}, nil},
		{"CL with a sign", "POST http://good.test/ HTTP/1.1\r\nHost: good.test\r\nContent-Length: +3\r\n\r\nabc", []int{400}, nil},
		{"TE of two", "POST http://good.test/ HTTP/1.1\r\nHost: good.test\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n", []int{501}, nil},
		{"TE twice", "POST http://good.test/ HTTP/1.1\r\nHost: good.test\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n0\r\n\r\n", []int{501}, nil},
		{"TE with a tab", "POST http://good.test/ HTTP/1.1\r\nHost: good.test\r\nTransfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n", []int{400}, nil},
		{"folded header: unfolded", "GET http://good.test/ HTTP/1.1\r\nHost: good.test\r\nX: a\r\n Host: bad.test\r\n\r\n", []int{200}, []string{ok}},
		{"chunk extension with a line end", "POST http://good.test/ HTTP/1.1\r\nHost: good.test\r\nTransfer-Encoding: chunked\r\n\r\n3;\n\r\nabc\r\n0\r\n\r\n", nil, nil},
		{"NUL in a header", "GET http://good.test/ HTTP/1.1\r\nHost: good.test\r\nX: a\x00b\r\n\r\n", []int{400}, nil},
		{"method with a line end", "GE\rT http://good.test/ HTTP/1.1\r\nHost: good.test\r\n\r\n", []int{400}, nil},
		{"HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", []int{400}, nil},
		{"h2c: the upgrade is not passed on", get + "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n", []int{200}, []string{ok}},
		{"WebSocket with methods", "GET http://read.test/ HTTP/1.1\r\nHost: read.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", []int{403}, nil},
		{"method in a header", "GET http://read.test/ HTTP/1.1\r\nHost: read.test\r\nX-HTTP-Method-Override: DELETE\r\n\r\n", []int{403}, nil},
		{"method in a header of CGI", "GET http://read.test/ HTTP/1.1\r\nHost: read.test\r\nX_HTTP-Method_Override: DELETE\r\n\r\n", []int{403}, nil},
		{"Connection names Host", get + "Connection: Host\r\n\r\n", []int{200}, []string{ok}},
		{"HTTP/1.0", "GET http://good.test/ HTTP/1.0\r\n\r\n", []int{200}, []string{ok}},
		{"HTTP/0.9", "GET http://good.test/\r\n\r\n", []int{400}, nil},
		{"endless header", get + "X: " + strings.Repeat("a", 200<<10) + "\r\n\r\n", []int{431}, nil},
		{"endless headers", get + strings.Repeat("X: a\r\n", 40<<10) + "\r\n", []int{431}, nil},
		{"TLS to the port", "\x16\x03\x01\x00\x01\x00\r\n\r\n", []int{400}, nil},
		{"CONNECT without a port", "CONNECT good.test HTTP/1.1\r\nHost: good.test\r\n\r\n", []int{400}, nil},
		{"CONNECT with a user", "CONNECT good.test:443@bad.test:80 HTTP/1.1\r\nHost: good.test\r\n\r\n", []int{400}, nil},
		{"CONNECT with a path", "CONNECT good.test:443/x HTTP/1.1\r\nHost: good.test\r\n\r\n", []int{400}, nil},
		{"CONNECT with a scheme", "CONNECT http://good.test:80/ HTTP/1.1\r\nHost: good.test\r\n\r\n", []int{400}, nil},
		{"CONNECT to a port not allowed", "CONNECT good.test:22 HTTP/1.1\r\nHost: good.test:22\r\n\r\n", []int{403}, nil},
		{"CONNECT to another", "CONNECT bad.test:443 HTTP/1.1\r\nHost: good.test:443\r\n\r\n", []int{403}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := dialPeer(t, w.proxy)
			go io.WriteString(p, test.send)
			for _, want := range test.status {
				method := strings.Fields(test.send + " x")[0]
				if got, body := p.answer(method); got != want {
					t.Errorf("status %d, want %d: %s", got, want, body)
				}
			}
			p.Close()
			if diff := cmp.Diff(test.heard, w.said()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestCleartextInTunnel: port 80 through CONNECT is HTTP that is read like any other.
func TestCleartextInTunnel(t *testing.T) {
	w := newWorld(t, mustAllow(t, "good.test"))
	w.serveRaw("good.test", 80, w.recorder)
	p := w.dial()
	if status, body := p.connect("good.test:80"); status != 200 {
		t.Fatal(status, body)
	}
	if status, _ := p.send("GET /a HTTP/1.1\r\nHost: good.test\r\n\r\n").answer("GET"); status != 200 {
		t.Error(status)
	}
	if status, _ := p.send("GET /b HTTP/1.1\r\nHost: bad.test\r\n\r\n").answer("GET"); status != 400 {
		t.Error(status)
	}
	for _, send := range []string{"CONNECT bad.test:443 HTTP/1.1\r\nHost: bad.test:443\r\n\r\n", "SSH-2.0-x\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: good.test:81\r\n\r\n", "GET http:http://bad.test/ HTTP/1.1\r\nHost: good.test\r\n\r\n"} {
		p := w.dial()
		p.connect("good.test:80")
		if status, _ := p.send(send).answer("GET"); status != 400 {
			t.Error(send, status)
		}
	}
	if diff := cmp.Diff([]string{"GET good.test/a cl=0 te=[] \"\""}, w.said()); diff != "" {
		t.Error(diff)
	}
}
