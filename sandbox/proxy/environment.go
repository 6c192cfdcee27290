package proxy

import (
	"net/netip"
	"slices"
)

// noProxy are the destinations inside the sandbox itself.
const noProxy = "localhost,127.0.0.1,::1"

// Environment returns the variables, NAME=VALUE and sorted, by which programs find the proxy at addr, and, unless bundle
// is empty, the file of certificates to trust: the system's together with the run's authority, at its path inside.
//
// Java is not among them: both of its variables (JAVA_TOOL_OPTIONS, JDK_JAVA_OPTIONS) make every start print a line to
// standard error, and the transparent listeners serve it without. Its certificates are in a format of its own.
func Environment(addr netip.AddrPort, bundle string) []string {
	env := proxyVariables(addr.String())
	if bundle != "" {
		env = append(env, trustVariables(bundle)...)
	}
	slices.Sort(env)
	return env
}

func proxyVariables(addr string) []string {
	url := "http://" + addr
	return []string{
		// In capitals and in small letters, since each is read by some: curl(1) reads http_proxy in small letters only
		// (a CGI script's HTTP_PROXY is the client's), and so does wget; Go (golang.org/x/net/http/httpproxy), Python's
		// urllib and requests, git (git-config(1), http.proxy), npm (docs: config, https-proxy), pip, apt
		// (apt-transport-http(1)), the docker client and gh read both or the capitals.
		"HTTP_PROXY=" + url, "http_proxy=" + url,
		"HTTPS_PROXY=" + url, "https_proxy=" + url,
		// Not socks5h://, which is what curl(1) and git would take as well: Python's httpx, and with it the clients of
		// most language models, fails at import without a further package when any variable names a SOCKS proxy.
		"ALL_PROXY=" + url, "all_proxy=" + url,
		"NO_PROXY=" + noProxy, "no_proxy=" + noProxy,
		// node's fetch and http from 22.21 and 24 on: nodejs.org/api/cli.html#node_use_env_proxy1. Older ones come to
		// the transparent listeners.
		"NODE_USE_ENV_PROXY=1",
		// cargo, before http.proxy of git's configuration: doc.rust-lang.org/cargo/reference/config.html#httpproxy.
		"CARGO_HTTP_PROXY=" + url,
		// yarn 2 and later read no common variable: yarnpkg.com/configuration/yarnrc#httpProxy.
		"YARN_HTTP_PROXY=" + url, "YARN_HTTPS_PROXY=" + url,
		// rsync(1), for its own protocol: through CONNECT.
		"RSYNC_PROXY=" + addr,
	}
}

func trustVariables(bundle string) []string {
	var env []string
	for _, name := range []string{
		"SSL_CERT_FILE",                      // OpenSSL (SSL_CTX_load_verify_locations(3)), and with it Python's ssl and Ruby; Go (crypto/x509); rustls-native-certs; uv
		"NIX_SSL_CERT_FILE",                  // Nix (nix.conf(5), ssl-cert-file) and nixpkgs' patched OpenSSL
		"CURL_CA_BUNDLE",                     // curl(1)
		"REQUESTS_CA_BUNDLE",                 // requests (docs: SSL Cert Verification)
		"NODE_EXTRA_CA_CERTS",                // node (nodejs.org/api/cli.html), and so npm, yarn and pnpm
		"npm_config_cafile",                  // npm and pnpm, where a npmrc has a cafile of its own (docs: config, cafile)
		"GIT_SSL_CAINFO",                     // git-config(1), http.sslCAInfo
		"PIP_CERT",                           // pip (docs: --cert)
		"CARGO_HTTP_CAINFO",                  // cargo (config.html#httpcainfo)
		"AWS_CA_BUNDLE",                      // AWS's SDKs and command (docs: environment variables)
		"DENO_CERT",                          // deno (docs: environment variables)
		"BUNDLE_SSL_CA_CERT",                 // bundler (bundle-config(1))
		"COMPOSER_CAFILE",                    // composer (docs: cafile)
		"PERL_LWP_SSL_CA_FILE",               // LWP::UserAgent
		"HEX_CACERTS_PATH",                   // hex and mix (hex.config)
		"SYSTEM_CERTIFICATE_PATH",            // Haskell's crypton-x509-system, and so cabal and stack
		"JULIA_SSL_CA_ROOTS_PATH",            // Julia (NetworkOptions)
		"GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",   // gRPC's C core (doc/environment_variables.md)
		"CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE", // gcloud (docs: custom_ca_certs_file)
		"YARN_HTTPS_CA_FILE_PATH",            // yarn 2 and later (httpsCaFilePath)
	} {
		env = append(env, name+"="+bundle)
	}
	// deno takes its own roots before the system's otherwise; the order is that of precedence.
	return append(env, "DENO_TLS_CA_STORE=mozilla,system")
}
