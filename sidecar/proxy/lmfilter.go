package proxy

import (
	"maps"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// filter is what of a workload's changes somebody wants to hear (W33.2).
type filter struct {
	lists map[string]bool // members of changeKinds
	uris  map[string]bool
}

func newFilter() filter { return filter{map[string]bool{}, map[string]bool{}} }

func (f filter) empty() bool { return len(f.lists) == 0 && len(f.uris) == 0 }

func (f filter) equal(o filter) bool {
	return maps.Equal(f.lists, o.lists) && maps.Equal(f.uris, o.uris)
}

func (f filter) add(o filter) {
	maps.Copy(f.lists, o.lists)
	maps.Copy(f.uris, o.uris)
}

// advertised is what a workload says that can change, resources aside.
func advertised(capabilities []byte) filter {
	f := newFilter()
	for _, k := range []struct {
		capability mcp.Capability
		member     string
	}{{mcp.CapTools, "toolsListChanged"}, {mcp.CapPrompts, "promptsListChanged"}, {mcp.CapResources, "resourcesListChanged"}} {
		if flag, _ := strictjson.GetPath(capabilities, string(k.capability), "listChanged"); string(flag) == "true" {
			f.lists[k.member] = true
		}
	}
	return f
}

// raw is the filter as subscriptions/listen has it, in a fixed order.
func (f filter) raw() []byte {
	b := []byte{'{'}
	for _, kind := range changeKinds {
		if f.lists[kind.member] {
			b = append(strictjson.Quote(b, kind.member), ":true,"...)
		}
	}
	if len(f.uris) > 0 {
		b = append(b, `"resourceSubscriptions":[`...)
		for _, uri := range slices.Sorted(maps.Keys(f.uris)) {
			b = append(strictjson.Quote(b, uri), ',')
		}
		b = append(b[:len(b)-1], "],"...)
	}
	if len(b) > 1 {
		b = b[:len(b)-1]
	}
	return append(b, '}')
}

// readHonoured reads what an acknowledgement honours. subscribes says whether it
// speaks of resources at all.
func readHonoured(raw []byte) (f filter, subscribes bool) {
	f = newFilter()
	for _, kind := range changeKinds {
		if flag, _ := strictjson.Get(raw, kind.member); string(flag) == "true" {
			f.lists[kind.member] = true
		}
	}
	uris, subscribes := strictjson.Get(raw, "resourceSubscriptions")
	strictjson.Elements(uris, func(one []byte) bool {
		if uri, ok := strictjson.String(one); ok {
			f.uris[uri] = true
		}
		return true
	})
	return f, subscribes
}

// wants reports whether a change is one that the filter asks for: of a list, or
// of a resource or what lies under it (W26.8).
func (f filter) wants(method string, params []byte) bool {
	if method != mcp.NotifyResourceUpdated {
		for _, kind := range changeKinds {
			if kind.method == method {
				return f.lists[kind.member]
			}
		}
		return false
	}
	raw, _ := strictjson.Get(params, "uri")
	uri, _ := strictjson.String(raw)
	if f.uris[uri] {
		return true
	}
	for own := range f.uris {
		if strings.HasPrefix(uri, strings.TrimSuffix(own, "/")+"/") {
			return true
		}
	}
	return false
}
