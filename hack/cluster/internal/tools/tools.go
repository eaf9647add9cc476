// Package tools builds the node's binaries from the modules in hack/tools and
// keeps them in the cache, in a folder named by everything that went into them.
// It must not know how they are run.
package tools

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// flags are those of the whole repository, so that packages compiled for the
// operator and its tests are shared.
const flags = "-buildvcs=false -trimpath"

// group is one run of the Go command.
type group struct {
	module   string // folder below hack/tools, "." for Kubernetes
	packages []string
	outputs  []string // relative to the folder of binaries
	ldflags  string   // after "-s -w"; "" for Kubernetes means its version stamp
	tags     string
	cgo      bool
}

const (
	kube  = "k8s.io/kubernetes/cmd/"
	ctrd  = "github.com/containerd/containerd/v2/cmd/"
	cniIn = "github.com/containernetworking/plugins/plugins/"
)

// Groups in the order of building; assets first, they are of use alone.
func groups() []group {
	return []group{
		{module: ".", packages: []string{"go.etcd.io/etcd/server/v3"}, outputs: []string{"etcd"}},
		{module: ".", packages: []string{kube + "kube-apiserver", kube + "kubectl"}, outputs: []string{"kube-apiserver", "kubectl"}, ldflags: stamped},
		{
			module:   ".",
			packages: []string{kube + "kube-controller-manager", kube + "kube-scheduler", kube + "kubelet", kube + "kube-proxy"},
			outputs:  []string{"kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy"}, ldflags: stamped,
		},
		{
			module: "node", packages: []string{ctrd + "containerd", ctrd + "containerd-shim-runc-v2", ctrd + "ctr"},
			outputs: []string{"containerd", "containerd-shim-runc-v2", "ctr"},
		},
		{
			module:   "node",
			packages: []string{cniIn + "ipam/host-local", cniIn + "main/bridge", cniIn + "main/loopback", cniIn + "meta/portmap"},
			outputs:  []string{"cni/host-local", "cni/bridge", "cni/loopback", "cni/portmap"},
		},
		// runc needs cgo for its first stage, and seccomp for RuntimeDefault.
		{module: "node", packages: []string{"github.com/opencontainers/runc"}, outputs: []string{"runc"}, tags: "seccomp", cgo: true},
	}
}

// stamped asks for Kubernetes' version stamp: without it kubelet and kubectl call
// themselves v0.0.0 and version skew checks misbehave.
const stamped = "kubernetes-version"

// Assets are the binaries that envtest needs.
func Assets() []string { return []string{"etcd", "kube-apiserver", "kubectl"} }

// Set is the folder of binaries that belongs to the present inputs.
type Set struct {
	repo string
	root string // all sets
	Dir  string
}

// Find computes the folder; nothing need be in it yet.
func Find(repo, cache string) (Set, error) {
	key, err := key(repo)
	if err != nil {
		return Set{}, err
	}
	root := filepath.Join(cache, "tools")
	return Set{repo: repo, root: root, Dir: filepath.Join(root, key)}, nil
}

// Missing returns the outputs among want (all when empty) that are not built.
func (s Set) Missing(want ...string) []string {
	var out []string
	for _, g := range groups() {
		for _, o := range g.outputs {
			if len(want) > 0 && !slices.Contains(want, o) {
				continue
			}
			if _, err := os.Stat(filepath.Join(s.Dir, o)); err != nil {
				out = append(out, o)
			}
		}
	}
	return out
}

// key hashes the module files, the toolchain and the recipe.
func key(repo string) (string, error) {
	h := sha256.New()
	for _, module := range []string{".", "node"} {
		for _, name := range []string{"go.mod", "go.sum"} {
			if err := hashFile(h, filepath.Join(repo, "hack", "tools", module, name)); err != nil {
				return "", err
			}
		}
	}
	out, err := exec.Command("go", "env", "GOVERSION", "GOOS", "GOARCH").Output()
	if errors.Is(err, exec.ErrNotFound) {
		return "", errors.New("no `go` in PATH: Go 1.26.8 or newer builds the cluster, see https://go.dev/dl")
	}
	if err != nil {
		return "", fmt.Errorf("go env: %w", err)
	}
	fmt.Fprintf(h, "%s%s%+v", out, flags, groups())
	return hex.EncodeToString(h.Sum(nil))[:12], nil
}

func hashFile(h io.Writer, path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	fmt.Fprintf(h, "%s %d\n", filepath.Base(path), len(data))
	_, err = h.Write(data)
	return err
}

// Prune removes the sets of other inputs, except those in keep, which run.
func (s Set) Prune(keep ...string) error {
	entries, err := os.ReadDir(s.root)
	if err != nil {
		return err
	}
	for _, e := range entries {
		dir := filepath.Join(s.root, e.Name())
		if !e.IsDir() || dir == s.Dir || slices.Contains(keep, dir) || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if err := os.RemoveAll(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
