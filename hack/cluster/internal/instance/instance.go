// Package instance names a cluster and knows where everything of it is: the
// folders on disk, the addresses inside its network and its cgroup. It starts
// nothing and must not know how a node is made.
package instance

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Environment variables read by Find.
const (
	EnvName  = "FAIRLEAD_CLUSTER" // which cluster, default DefaultName
	EnvCache = "FAIRLEAD_CACHE"   // where tools and state are, default <repository>/.cache
)

// DefaultName is the cluster of `make cluster-up`.
const DefaultName = "dev"

// Addresses inside the node's own network namespace. Every cluster has a network
// to itself, so all of them use the same.
const (
	NodeIP      = "172.30.0.10"
	NodePrefix  = 24
	PodCIDR     = "10.244.0.0/24"
	ServiceCIDR = "10.96.0.0/16"
	ServiceIP   = "10.96.0.1"
	DNSIP       = "10.96.0.10"
	APIServer   = "https://172.30.0.10:6443"
	Registry    = "localhost:5000"
)

// Sockets, as seen inside the node, whose /run is its own.
const (
	ControlSocket    = "/run/fairlead/control.sock"
	RegistrySocket   = "/run/fairlead/registry.sock"
	ContainerdSocket = "/run/containerd/containerd.sock"
)

const modulePath = "github.com/fairlead-dev/fairlead"

var validName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,19}$`)

// Instance is one cluster. Its zero value is of no use; see Find.
type Instance struct {
	Name  string
	Repo  string // root of the source tree
	Cache string // tools and state of all clusters
	Dir   string // state of this one
}

// Find returns the cluster that the environment names, for a caller whose
// working directory or binary lies in the source tree.
func Find() (Instance, error) {
	name := os.Getenv(EnvName)
	if name == "" {
		name = DefaultName
	}
	repo, err := findRepo()
	if err != nil {
		return Instance{}, err
	}
	cache := os.Getenv(EnvCache)
	if cache == "" {
		cache = filepath.Join(repo, ".cache")
	}
	return New(name, repo, cache)
}

// New checks name and cache and returns the cluster of that name.
func New(name, repo, cache string) (Instance, error) {
	if !validName.MatchString(name) {
		return Instance{}, fmt.Errorf("%s=%q: want a lower-case letter followed by at most 19 letters, digits or dashes", EnvName, name)
	}
	cache, err := filepath.Abs(cache)
	if err != nil {
		return Instance{}, err
	}
	// The node covers these with folders of its own; its state must stay visible.
	for _, hidden := range []string{"/run", "/var/run", "/var/lib", "/var/log", "/proc", "/sys"} {
		if cache == hidden || strings.HasPrefix(cache, hidden+"/") {
			return Instance{}, fmt.Errorf("%s=%s: the node hides %s; choose a folder elsewhere", EnvCache, cache, hidden)
		}
	}
	return Instance{Name: name, Repo: repo, Cache: cache, Dir: filepath.Join(cache, "cluster", name)}, nil
}

func findRepo() (string, error) {
	var starts []string
	if wd, err := os.Getwd(); err == nil {
		starts = append(starts, wd)
	}
	if exe, err := os.Executable(); err == nil {
		starts = append(starts, filepath.Dir(exe))
	}
	for _, dir := range starts {
		for ; ; dir = filepath.Dir(dir) {
			if mod, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil {
				first, _, _ := strings.Cut(string(mod), "\n")
				_, err := os.Stat(filepath.Join(dir, "hack", "tools", "go.mod")) // a stray go.mod is no tree
				if strings.TrimSpace(first) == "module "+modulePath && err == nil {
					return dir, nil
				}
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return "", errors.New("not inside the Fairlead source tree; change into it and try again")
}

// Path joins elements to the cluster's state folder.
func (i Instance) Path(elem ...string) string {
	return filepath.Join(append([]string{i.Dir}, elem...)...)
}

// NodeName is the name of the only node, and its host name.
func (i Instance) NodeName() string { return "fairlead-" + i.Name }

// Cgroup is the name of the cluster's cgroup in every hierarchy. It carries a
// hash of the state folder: two clones may run clusters of the same name.
func (i Instance) Cgroup() string {
	sum := sha256.Sum256([]byte(i.Dir))
	return "fairlead-" + i.Name + "-" + hex.EncodeToString(sum[:3])
}

// Kubeconfig is the administrator's, valid inside the node's network.
func (i Instance) Kubeconfig() string { return i.Path("pki", "admin.kubeconfig") }

// AuditLog is written by the API server, one JSON event a line.
func (i Instance) AuditLog() string { return i.Path("audit", "audit.log") }

// LogDir holds one log per component.
func (i Instance) LogDir() string { return i.Path("log") }
