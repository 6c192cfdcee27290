package proxy

import "crypto/tls"

// tlsConfig trusts the test's servers and the run's authority.
func tlsConfig(w *world) *tls.Config {
	roots := w.roots.Clone()
	if pem, err := w.filter.CA(); err == nil {
		roots.AppendCertsFromPEM(pem)
	}
	return &tls.Config{RootCAs: roots}
}
