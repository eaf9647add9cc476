package pki

import (
	"encoding/base64"
	"fmt"
)

// kubeconfig renders a file with everything in it, so that it can be copied.
func kubeconfig(p Params, user string, ca, cert, key []byte) []byte {
	b64 := base64.StdEncoding.EncodeToString
	return fmt.Appendf(nil, `apiVersion: v1
kind: Config
current-context: %[1]s
clusters:
- name: %[1]s
  cluster:
    server: %[2]s
    certificate-authority-data: %[4]s
users:
- name: %[3]s
  user:
    client-certificate-data: %[5]s
    client-key-data: %[6]s
contexts:
- name: %[1]s
  context:
    cluster: %[1]s
    user: %[3]s
`, p.ContextName, p.Server, user, b64(ca), b64(cert), b64(key))
}
