// Package pki writes the certificates, keys and kubeconfigs of a cluster: one
// authority for Kubernetes, one for the front proxy, and the key that signs
// service account tokens. It knows nothing of processes or namespaces.
package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Lifetime of every certificate. A cluster is thrown away long before.
const Lifetime = 365 * 24 * time.Hour

// Params is what the certificates must be valid for.
type Params struct {
	ContextName string // of the kubeconfigs
	Server      string // URL of the API server
	NodeName    string
	NodeIP      string
	ServiceIP   string // of the service `kubernetes`
}

// Write fills dir, which it creates with mode 0700. Existing files are replaced.
// Names are those that package nodeconf refers to.
func Write(dir string, p Params) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	w := &writer{dir: dir, now: time.Now()}
	ca := w.authority("ca", "fairlead-ca")
	proxyCA := w.authority("front-proxy-ca", "fairlead-front-proxy-ca")
	w.client("front-proxy-client", "front-proxy-client", nil, proxyCA)
	w.client("apiserver-kubelet-client", "kube-apiserver-kubelet-client", []string{"system:masters"}, ca)
	w.server("apiserver", pkix.Name{CommonName: "kube-apiserver"}, ca,
		[]string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"},
		[]string{p.NodeIP, p.ServiceIP, "127.0.0.1"})
	w.server("kubelet-server", pkix.Name{CommonName: "system:node:" + p.NodeName, Organization: []string{"system:nodes"}}, ca,
		[]string{p.NodeName}, []string{p.NodeIP, "127.0.0.1"})
	w.signingKey("sa")
	for _, u := range []struct {
		file, user string
		groups     []string
	}{
		{"admin", "kubernetes-admin", []string{"system:masters"}},
		{"controller-manager", "system:kube-controller-manager", nil},
		{"scheduler", "system:kube-scheduler", nil},
		{"kube-proxy", "system:kube-proxy", []string{"system:node-proxier"}},
		{"kubelet", "system:node:" + p.NodeName, []string{"system:nodes"}},
	} {
		cert, key := w.client(u.file, u.user, u.groups, ca)
		w.file(u.file+".kubeconfig", kubeconfig(p, u.user, ca.pem, cert, key), 0o600)
	}
	return w.err
}

// writer keeps the first error, so that the list above stays readable.
type writer struct {
	dir string
	now time.Time
	err error
}

type authority struct {
	cert *x509.Certificate
	key  crypto.Signer
	pem  []byte
}

func (w *writer) file(name string, data []byte, mode os.FileMode) {
	if w.err == nil {
		w.err = os.WriteFile(filepath.Join(w.dir, name), data, mode)
	}
}

func (w *writer) key(name string) (crypto.Signer, []byte) {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		w.fail(name, err)
		return nil, nil
	}
	der, err := x509.MarshalECPrivateKey(k)
	w.fail(name, err)
	out := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
	w.file(name+".key", out, 0o600)
	return k, out
}

func (w *writer) fail(name string, err error) {
	if w.err == nil && err != nil {
		w.err = fmt.Errorf("pki %s: %w", name, err)
	}
}

// issue signs t for key, with ca or, when ca is nil, with key itself.
func (w *writer) issue(name string, t *x509.Certificate, key crypto.Signer, ca *authority) (*x509.Certificate, []byte) {
	if w.err != nil {
		return nil, nil
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		w.fail(name, err)
		return nil, nil
	}
	t.SerialNumber = serial
	t.NotBefore, t.NotAfter = w.now.Add(-time.Hour), w.now.Add(Lifetime)
	parent, signer := t, key
	if ca != nil {
		parent, signer = ca.cert, ca.key
	}
	der, err := x509.CreateCertificate(rand.Reader, t, parent, key.Public(), signer)
	if err != nil {
		w.fail(name, err)
		return nil, nil
	}
	cert, err := x509.ParseCertificate(der)
	w.fail(name, err)
	out := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	w.file(name+".crt", out, 0o644)
	return cert, out
}

func (w *writer) authority(name, cn string) *authority {
	key, _ := w.key(name)
	cert, out := w.issue(name, &x509.Certificate{
		Subject: pkix.Name{CommonName: cn}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}, key, nil)
	return &authority{cert: cert, key: key, pem: out}
}

func (w *writer) client(name, cn string, groups []string, ca *authority) (cert, key []byte) {
	k, keyPEM := w.key(name)
	_, certPEM := w.issue(name, &x509.Certificate{
		Subject:  pkix.Name{CommonName: cn, Organization: groups},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, k, ca)
	return certPEM, keyPEM
}

func (w *writer) server(name string, subject pkix.Name, ca *authority, dns, ips []string) {
	k, _ := w.key(name)
	t := &x509.Certificate{
		Subject: subject, DNSNames: dns,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, ip := range ips {
		parsed := net.ParseIP(ip)
		if parsed == nil {
			w.fail(name, fmt.Errorf("not an IP address: %q", ip))
			return
		}
		t.IPAddresses = append(t.IPAddresses, parsed)
	}
	w.issue(name, t, k, ca)
}

func (w *writer) signingKey(name string) {
	k, _ := w.key(name)
	if w.err != nil {
		return
	}
	der, err := x509.MarshalPKIXPublicKey(k.Public())
	w.fail(name, err)
	w.file(name+".pub", pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), 0o644)
}
