// Package nodeconf holds the configuration of every component of the node: the
// files they read and the arguments they are started with. It renders text; it
// starts nothing and touches nothing outside the folder that it is given.
package nodeconf

import (
	"bytes"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"text/template"

	"github.com/fairlead-dev/fairlead/hack/cluster/internal/instance"
)

//go:embed templates
var templates embed.FS

// PauseImage is the sandbox image; the cluster imports it itself.
const PauseImage = "fairlead.dev/pause:dev"

// Config is everything the templates and the argument lists need.
type Config struct {
	NodeName, NodeIP, PodCIDR, ServiceCIDR, DNSIP, Registry string

	Cgroup           string // without slashes
	Tools            string // folder of the binaries
	Snapshotter      string // overlayfs, or native where overlay cannot lie on the file system
	ContainerdSocket string
	RegistrySocket   string
	PauseImage       string

	PKI, ConfDir, EtcdDir, RegistryDir, AuditLog string // as the node sees them
}

// For derives the configuration of a cluster whose binaries are in tools.
func For(i instance.Instance, tools, snapshotter string) Config {
	return Config{
		NodeName: i.NodeName(), NodeIP: instance.NodeIP, PodCIDR: instance.PodCIDR,
		ServiceCIDR: instance.ServiceCIDR, DNSIP: instance.DNSIP, Registry: instance.Registry,
		Cgroup: i.Cgroup(), Tools: tools, Snapshotter: snapshotter,
		ContainerdSocket: instance.ContainerdSocket, RegistrySocket: instance.RegistrySocket, PauseImage: PauseImage,
		PKI: i.Path("pki"), ConfDir: i.Path("conf"), EtcdDir: i.Path("etcd"),
		RegistryDir: i.Path("registry"), AuditLog: i.AuditLog(),
	}
}

// files maps a template to its place below ConfDir.
func files() map[string]string {
	return map[string]string{
		"containerd.toml":   "containerd.toml",
		"hosts.toml":        "registries/_default/hosts.toml",
		"kubelet.yaml":      "kubelet.yaml",
		"kube-proxy.yaml":   "kube-proxy.yaml",
		"bridge.conflist":   "cni/10-bridge.conflist",
		"audit-policy.yaml": "audit-policy.yaml",
		"resolv.conf":       "resolv.conf",
	}
}

// Write renders every file below c.ConfDir.
func (c Config) Write() error {
	for name, to := range files() {
		text, err := c.render(name)
		if err != nil {
			return err
		}
		path := filepath.Join(c.ConfDir, to)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (c Config) render(name string) ([]byte, error) {
	t, err := template.New(name).Option("missingkey=error").ParseFS(templates, "templates/"+name)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := t.Execute(&out, c); err != nil {
		return nil, fmt.Errorf("render %s: %w", name, err)
	}
	return out.Bytes(), nil
}
