package main

import (
	"fmt"
	"strings"
)

// layers orders the packages of runtime from low to high. A package imports
// lower ones only, not its neighbours: whoever reads upward meets nothing that
// was not explained before. A new package gets its place here.
var layers = [][]string{
	{"inflight", "internal/broken", "internal/fence", "internal/lapse", "internal/pause"},
	{"strictjson", "hook", "seal", "salvage", "auth", "transport/queue", "uritemplate"},
	{"jsonrpc", "sse", "transport/ndjson", "auth/metadata", "cardinality", "paramheader", "schema"},
	{"mcp", "stream", "handle", "auth/guard", "auth/oidc", "auth/token"},
	{"middleware"},
	{"session", "client/peer", "apps", "transport"},
	{"dispatch", "client/httpleg", "task", "client/child"},
	{"task/tasktest", "task/endpoint", "session/sessiontest", "stream/streamtest", "transport/duplex", "client/sseleg"},
	{"transport/stdio", "transport/memory", "transport/httpsse"},
	{"transport/streamable", "reverse"},
	{"server", "client"},
	{"mcptest", "apps/appserver", "transport/streamable/edgetest"},
	{"transport/duplex/duplextest"},
}

func checkLayers(t *tree) []problem {
	rank := map[string]int{}
	for i, layer := range layers {
		for _, name := range layer {
			rank[name] = i
		}
	}
	// internal packages belong to the package around them.
	owner := func(p string) string {
		p, _, _ = strings.Cut(p, "/internal")
		return p
	}
	var out []problem
	seen := map[string]bool{}
	for i := range t.files {
		f := &t.files[i]
		name, ok := strings.CutPrefix(f.dir(), "runtime/")
		if !ok || !f.isGo() || f.isTest() {
			continue
		}
		name = owner(name)
		have, placed := rank[name]
		if !placed {
			if !seen[name] {
				seen[name] = true
				out = append(out, problem{f.path, 0, "runtime/" + name + " has no place in the table of layers in hack/verify/layers.go"})
			}
			continue
		}
		for _, im := range f.imports() {
			other, own := strings.CutPrefix(im.path, "~/runtime/")
			if !own || owner(other) == name {
				continue
			}
			if want, known := rank[owner(other)]; known && want >= have {
				out = append(out, problem{f.path, im.line, fmt.Sprintf(
					"must not import %s: it is not below runtime/%s in the table of layers in hack/verify/layers.go", im.path, name)})
			}
		}
	}
	return out
}
