package pki

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"sigs.k8s.io/yaml"
)

func params() Params {
	return Params{ContextName: "fairlead-test", Server: "https://172.30.0.10:6443", NodeName: "fairlead-test", NodeIP: "172.30.0.10", ServiceIP: "10.96.0.1"}
}

func write(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "pki")
	if err := Write(dir, params()); err != nil {
		t.Fatal(err)
	}
	return dir
}

func readCert(t *testing.T, file string) *x509.Certificate {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(data)
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func pool(t *testing.T, file string) *x509.CertPool {
	t.Helper()
	p := x509.NewCertPool()
	p.AddCert(readCert(t, file))
	return p
}

func TestEveryCertificateServesItsPurpose(t *testing.T) {
	dir := write(t)
	for name, tc := range map[string]struct {
		file, ca string
		usage    x509.ExtKeyUsage
		host     string
		user     string
		group    string
	}{
		"the API server is reached by its address":       {"apiserver", "ca", x509.ExtKeyUsageServerAuth, "172.30.0.10", "", ""},
		"the API server is reached by its service":       {"apiserver", "ca", x509.ExtKeyUsageServerAuth, "10.96.0.1", "", ""},
		"the API server is reached by its service name":  {"apiserver", "ca", x509.ExtKeyUsageServerAuth, "kubernetes.default.svc", "", ""},
		"the kubelet is reached by its address":          {"kubelet-server", "ca", x509.ExtKeyUsageServerAuth, "172.30.0.10", "", ""},
		"the administrator is one":                       {"admin", "ca", x509.ExtKeyUsageClientAuth, "", "kubernetes-admin", "system:masters"},
		"the kubelet is its node":                        {"kubelet", "ca", x509.ExtKeyUsageClientAuth, "", "system:node:fairlead-test", "system:nodes"},
		"the aggregator is vouched for by another CA":    {"front-proxy-client", "front-proxy-ca", x509.ExtKeyUsageClientAuth, "", "front-proxy-client", ""},
		"the API server may do everything at kubelets":   {"apiserver-kubelet-client", "ca", x509.ExtKeyUsageClientAuth, "", "", "system:masters"},
		"the controller manager has its built-in name":   {"controller-manager", "ca", x509.ExtKeyUsageClientAuth, "", "system:kube-controller-manager", ""},
		"the proxy is in the group that may read routes": {"kube-proxy", "ca", x509.ExtKeyUsageClientAuth, "", "system:kube-proxy", "system:node-proxier"},
	} {
		t.Run(name, func(t *testing.T) {
			cert := readCert(t, filepath.Join(dir, tc.file+".crt"))
			_, err := cert.Verify(x509.VerifyOptions{
				Roots: pool(t, filepath.Join(dir, tc.ca+".crt")), DNSName: tc.host, KeyUsages: []x509.ExtKeyUsage{tc.usage},
			})
			if err != nil {
				t.Error(err)
			}
			if tc.user != "" && cert.Subject.CommonName != tc.user {
				t.Errorf("user %q, want %q", cert.Subject.CommonName, tc.user)
			}
			if tc.group != "" && !slices.Contains(cert.Subject.Organization, tc.group) {
				t.Errorf("groups %q, want %q", cert.Subject.Organization, tc.group)
			}
			if _, err := tls.LoadX509KeyPair(filepath.Join(dir, tc.file+".crt"), filepath.Join(dir, tc.file+".key")); err != nil {
				t.Errorf("the key does not belong to it: %v", err)
			}
		})
	}
}

func TestKubeconfigIsCompleteAndPrivate(t *testing.T) {
	dir := write(t)
	file := filepath.Join(dir, "admin.kubeconfig")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		CurrentContext string `json:"current-context"`
		Clusters       []struct {
			Cluster struct {
				Server string `json:"server"`
				CA     string `json:"certificate-authority-data"`
			} `json:"cluster"`
		} `json:"clusters"`
		Users []struct {
			User struct {
				Cert string `json:"client-certificate-data"`
				Key  string `json:"client-key-data"`
			} `json:"user"`
		} `json:"users"`
	}
	if err := yaml.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if got.CurrentContext != "fairlead-test" || got.Clusters[0].Cluster.Server != params().Server {
		t.Errorf("context %q, server %q", got.CurrentContext, got.Clusters[0].Cluster.Server)
	}
	decode := func(s string) []byte {
		b, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	if _, err := tls.X509KeyPair(decode(got.Users[0].User.Cert), decode(got.Users[0].User.Key)); err != nil {
		t.Error(err)
	}
	if !x509.NewCertPool().AppendCertsFromPEM(decode(got.Clusters[0].Cluster.CA)) {
		t.Error("no certificate of the authority")
	}
	st, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, want 0600: it holds a key", st.Mode().Perm())
	}
}

func TestAWrongAddressIsAnErrorThatNamesIt(t *testing.T) {
	p := params()
	p.NodeIP = "not-an-address"
	if err := Write(t.TempDir(), p); err == nil {
		t.Error("no error")
	}
}
