package proxy

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEnvironment(t *testing.T) {
	addr := netip.MustParseAddrPort("127.0.0.1:3128")
	want := []string{
		"ALL_PROXY=http://127.0.0.1:3128", "CARGO_HTTP_PROXY=http://127.0.0.1:3128", "HTTPS_PROXY=http://127.0.0.1:3128",
		"HTTP_PROXY=http://127.0.0.1:3128", "NODE_USE_ENV_PROXY=1", "NO_PROXY=localhost,127.0.0.1,::1", "RSYNC_PROXY=127.0.0.1:3128",
		"YARN_HTTPS_PROXY=http://127.0.0.1:3128", "YARN_HTTP_PROXY=http://127.0.0.1:3128", "all_proxy=http://127.0.0.1:3128",
		"http_proxy=http://127.0.0.1:3128", "https_proxy=http://127.0.0.1:3128", "no_proxy=localhost,127.0.0.1,::1",
	}
	if diff := cmp.Diff(want, Environment(addr, "")); diff != "" {
		t.Error(diff)
	}
	want = append(want, "AWS_CA_BUNDLE=/ca", "BUNDLE_SSL_CA_CERT=/ca", "CARGO_HTTP_CAINFO=/ca", "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE=/ca", "COMPOSER_CAFILE=/ca",
		"CURL_CA_BUNDLE=/ca", "DENO_CERT=/ca", "DENO_TLS_CA_STORE=mozilla,system", "GIT_SSL_CAINFO=/ca", "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH=/ca", "HEX_CACERTS_PATH=/ca",
		"JULIA_SSL_CA_ROOTS_PATH=/ca", "NIX_SSL_CERT_FILE=/ca", "NODE_EXTRA_CA_CERTS=/ca", "PERL_LWP_SSL_CA_FILE=/ca", "PIP_CERT=/ca", "REQUESTS_CA_BUNDLE=/ca",
		"SSL_CERT_FILE=/ca", "npm_config_cafile=/ca", "SYSTEM_CERTIFICATE_PATH=/ca", "YARN_HTTPS_CA_FILE_PATH=/ca")
	slices.Sort(want)
	if diff := cmp.Diff(want, Environment(addr, "/ca")); diff != "" {
		t.Error(diff)
	}
}
