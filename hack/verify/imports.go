package main

import (
	"fmt"
	"slices"
	"strings"
)

// scope says what the packages of some folders may import besides the standard
// library. The most specific scope of a package counts, alone.
type scope struct {
	// dir is a folder; an element may be "*". It covers what is below it.
	dir string
	// allow are import paths with all below them; "~/" is this module.
	allow []string
	// deny are taken out of allow and of the standard library.
	deny []string
	// why completes "because"; a person reads it when the check fails.
	why string
}

// sdks are the MCP libraries of others. The product is one itself; only test
// peers, a module of its own, use them.
var sdks = []string{"github.com/modelcontextprotocol", "github.com/mark3labs/mcp-go"}

// testOnly may be imported by _test.go files of every scope.
var testOnly = []string{
	"github.com/google/go-cmp", "go.uber.org/goleak", "k8s.io/pod-security-admission", "k8s.io/utils/ptr",
	"~/test/testkit", "~/test/workloads",
}

// scopes is docs/architecture.md's table of who may import whom.
func scopes() []scope {
	return []scope{
		{
			dir:   "api",
			allow: []string{"k8s.io/apimachinery", "k8s.io/api/core/v1"},
			why:   "anybody must be able to import the kinds without a client library",
		},
		{
			dir:   "runtime",
			allow: []string{"~/runtime", "github.com/go-json-experiment/json"},
			why:   "the protocol library stands alone: no Kubernetes, metrics or proxy",
		},
		{
			dir: "runtime/auth/oidc",
			allow: []string{
				"~/runtime", "github.com/go-json-experiment/json",
				"github.com/coreos/go-oidc/v3/oidc", "github.com/go-jose/go-jose/v4",
			},
			why: "the one place that checks signed tokens brings the one library for it, and nobody below it does",
		},
		{
			dir: "runtime/schema",
			allow: []string{
				"~/runtime", "github.com/go-json-experiment/json",
				"github.com/google/jsonschema-go/jsonschema", "github.com/santhosh-tekuri/jsonschema/v6",
			},
			why: "one library makes schemas and one checks them, both behind this package (P29)",
		},
		{
			dir:   "sidecar/config",
			allow: []string{"~/runtime/strictjson"},
			why:   "operator and sidecar share it, so it brings neither into the other",
		},
		{
			dir: "sidecar",
			allow: []string{
				"~/runtime", "~/sidecar", "github.com/prometheus", "github.com/fsnotify/fsnotify",
				"github.com/go-json-experiment/json", "golang.org/x/sys", "golang.org/x/sync", "golang.org/x/time",
				"golang.org/x/net/netutil",
			},
			why: "the data plane is the protocol library, its metrics and the kernel, and reads no Kubernetes API (D6)",
		},
		{
			dir: "sidecar/cmd",
			allow: []string{
				"~/runtime", "~/sidecar", "github.com/prometheus", "golang.org/x/sys", "github.com/spf13/cobra", "github.com/spf13/pflag",
			},
			why: "the data plane is the protocol library, its metrics and the kernel, and reads no Kubernetes API (D6)",
		},
		{
			dir: "controllers",
			allow: []string{
				"~/api", "~/sidecar/config", "~/controllers", "k8s.io", "sigs.k8s.io",
				"github.com/prometheus/client_golang", "github.com/go-logr/logr", "github.com/spf13/pflag",
				"golang.org/x/sync", "golang.org/x/time",
			},
			deny: []string{"os/exec", "~/controllers/internal/cli"},
			why:  "the operator knows the contract with the sidecar, not the sidecar, and runs no programs",
		},
		{
			dir: "controllers/*/desired",
			allow: []string{
				"~/api", "~/sidecar/config", "~/controllers/internal/ownership",
				"k8s.io/api", "k8s.io/apimachinery", "k8s.io/client-go/applyconfigurations", "k8s.io/utils/ptr",
				"sigs.k8s.io/yaml",
			},
			deny: []string{"os", "net/http", "time", "math/rand", "crypto/rand", "context"},
			why:  "builders are pure: no clients, clocks or randomness (D12)",
		},
		{
			dir: "controllers/internal/cli",
			allow: []string{
				"~/api", "~/sidecar/config", "~/controllers/internal", "~/runtime/mcp", "~/runtime/client",
				"k8s.io", "sigs.k8s.io", "github.com/spf13/cobra", "github.com/go-logr/logr",
			},
			why: "the plugin is a client of the servers and of the API",
		},
		{
			dir:   "controllers/cmd/kubectl-mcp",
			allow: []string{"~/controllers/internal/cli"},
			why:   "a main only starts its component",
		},
	}
}

func checkImports(t *tree) []problem {
	var out []problem
	all := scopes()
	for i := range t.files {
		f := &t.files[i]
		if !f.isGo() || within(f.dir(), "test/peers") {
			continue
		}
		s := scopeOf(all, f.dir())
		for _, im := range f.imports() {
			if im.path == "~/"+f.dir() {
				continue // an external test of the package
			}
			if why := s.refuses(im.path, f.isTest()); why != "" {
				out = append(out, problem{f.path, im.line, fmt.Sprintf("must not import %s: %s", im.path, why)})
			}
		}
	}
	return out
}

// refuses returns why the scope does not allow the import, or "". A nil scope,
// that of hack and test, allows all but the libraries of others.
func (s *scope) refuses(importPath string, fromTest bool) string {
	if slices.ContainsFunc(sdks, func(p string) bool { return within(importPath, p) }) {
		return "MCP libraries of others belong to test/peers only"
	}
	if s == nil {
		return ""
	}
	in := func(p string) bool { return within(importPath, p) }
	if fromTest {
		if isStd(importPath) || slices.ContainsFunc(testOnly, in) {
			return ""
		}
	} else if slices.ContainsFunc(s.deny, in) {
		return s.why
	}
	if isStd(importPath) || slices.ContainsFunc(s.allow, in) {
		return ""
	}
	return s.why
}

// scopeOf returns the scope with the longest folder that covers dir.
func scopeOf(all []scope, dir string) *scope {
	var best *scope
	for i, s := range all {
		if covers(s.dir, dir) && (best == nil || strings.Count(s.dir, "/") > strings.Count(best.dir, "/")) {
			best = &all[i]
		}
	}
	return best
}

func covers(pattern, dir string) bool {
	want, have := strings.Split(pattern, "/"), strings.Split(dir, "/")
	if len(have) < len(want) {
		return false
	}
	for i, w := range want {
		if w != "*" && w != have[i] {
			return false
		}
	}
	return true
}
