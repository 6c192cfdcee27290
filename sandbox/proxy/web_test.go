package proxy

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// client is Go's own, with the proxy.
func (w *world) client() *http.Client {
	u, _ := url.Parse("http://" + w.proxy)
	t := &http.Transport{Proxy: http.ProxyURL(u), DisableCompression: true}
	w.t.Cleanup(t.CloseIdleConnections)
	t.TLSClientConfig = tlsConfig(w)
	return &http.Client{Transport: t}
}

func get(t *testing.T, c *http.Client, method, address string) (int, string) {
	t.Helper()
	q, err := http.NewRequest(method, address, strings.NewReader("body"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Do(q)
	if err != nil {
		return 0, err.Error()
	}
	defer r.Body.Close()
	b, _ := io.ReadAll(r.Body)
	return r.StatusCode, string(b)
}

func TestRequests(t *testing.T) {
	rules := mustMethods(t, map[string][]string{"open.test": {"*"}, "read.test": {"GET", "HEAD"}})
	w := newWorld(t, rules)
	for _, name := range []string{"open.test", "read.test", "other.test"} {
		w.serve(name, w.site)
	}
	c := w.client()
	for _, test := range []struct {
		method, url string
		status      int
		body        string
	}{
		{"GET", "http://open.test/a?b", 200, "GET open.test/a?b body"},
		{"POST", "http://open.test/a", 200, "POST open.test/a body"},
		{"GET", "http://read.test/a", 200, "GET read.test/a body"},
		{"GET", "https://open.test/a", 200, "GET open.test/a body"},
		{"DELETE", "https://open.test/a", 200, "DELETE open.test/a body"},
		{"GET", "https://read.test/a", 200, "GET read.test/a body"},
		{"POST", "https://read.test/a", 403, "sidecar: POST https://read.test:443 was denied: read.test may be asked with GET, HEAD only\n" +
			"to allow it, in sidecar's configuration: network.allowed_domains: {\"read.test\": [GET, HEAD, POST]}\n"},
		{"GET", "http://other.test/", 403, "sidecar: GET http://other.test:80 was denied: no rule allows other.test\n" +
			"to allow it, in sidecar's configuration: network.allowed_domains: [other.test]\n"},
		{"GET", "http://open.test:8080/", 403, "sidecar: GET http://open.test:8080 was denied: port 8080 of open.test is not among those allowed\n" +
			"to allow it, in sidecar's configuration: network.allowed_domains: [\"open.test:8080\"]\n"},
		{"GET", "https://other.test/", 0, `Get "https://other.test/": Forbidden`},
	} {
		status, body := get(t, c, test.method, test.url)
		if status != test.status || body != test.body {
			t.Errorf("%s %s: %d %q, want %d %q", test.method, test.url, status, body, test.status, test.body)
		}
	}
}
