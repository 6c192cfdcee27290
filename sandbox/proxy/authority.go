package proxy

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"sync"
	"time"
)

const (
	// mostLeaves are kept; making another costs a signature.
	mostLeaves = 256
	// authorityLife exceeds any run; the key dies with the filter.
	authorityLife = 90 * 24 * time.Hour
)

// authority signs certificates for the hosts whose TLS is opened. Its keys are made when they are first needed and are
// never anywhere but in memory.
type authority struct {
	ready func() (*keys, error)
	mu    sync.Mutex
	made  map[Host]*tls.Certificate
}

// keys are the authority's own and the one that all its certificates share.
type keys struct {
	cert      *x509.Certificate
	own, leaf *ecdsa.PrivateKey
}

func newAuthority() *authority {
	return &authority{ready: sync.OnceValues(newKeys), made: map[Host]*tls.Certificate{}}
}

func newKeys() (*keys, error) {
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("the run's certificate authority: %w", err)
	}
	leaf, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("the run's certificate authority: %w", err)
	}
	template := certificate("sidecar, for one run")
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	template.IsCA, template.BasicConstraintsValid, template.MaxPathLenZero = true, true, true
	der, err := x509.CreateCertificate(rand.Reader, template, template, own.Public(), own)
	if err != nil {
		return nil, fmt.Errorf("the run's certificate authority: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	return &keys{cert, own, leaf}, err
}

// certificate is what both kinds share. Its beginning is in the past for clocks that go after ours, and for ours when it is set
// back by hours (one that is kept in local time).
func certificate(name string) *x509.Certificate {
	serial, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)) // crypto/rand ends the program instead of failing
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{Organization: []string{"sidecar"}, CommonName: name},
		NotBefore:    time.Now().Add(-25 * time.Hour),
		NotAfter:     time.Now().Add(authorityLife),
	}
}

func (a *authority) pem() ([]byte, error) {
	k, err := a.ready()
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: k.cert.Raw}), nil
}

// leaf returns the certificate for a host.
func (a *authority) leaf(h Host) (*tls.Certificate, error) {
	k, err := a.ready()
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if cert := a.made[h]; cert != nil {
		return cert, nil
	}
	cert, err := k.sign(h)
	if err != nil {
		return nil, fmt.Errorf("a certificate for %s: %w", h, err)
	}
	if len(a.made) >= mostLeaves {
		clear(a.made)
	}
	a.made[h] = cert
	return cert, nil
}

func (k *keys) sign(h Host) (*tls.Certificate, error) {
	template := certificate("")
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	if h.Name != "" {
		template.DNSNames = []string{h.Name}
	} else {
		template.IPAddresses = []net.IP{h.Addr.AsSlice()}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, k.cert, k.leaf.Public(), k.own)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der, k.cert.Raw}, PrivateKey: k.leaf}, nil
}
