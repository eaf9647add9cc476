package proxy

import (
	"maps"
	"slices"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Bounds of what a client's extensions add to a fingerprint: each is a leg of
// its own.
const (
	maxExtensions     = 16
	maxExtensionBytes = 4 << 10
)

// fingerprint is what a client declared, as far as a legacy workload cares: the
// canonical capabilities object that its leg is initialized with (B3.2). Empty
// means nothing.
func fingerprint(declared []byte, roots bool) string {
	if string(declared) == "{}" {
		return "" // which is what most declare
	}
	sub := func(c mcp.Capability, names ...string) []byte {
		b := []byte{'{'}
		for _, name := range names {
			if (c + "." + mcp.Capability(name)).Declared(declared) {
				b = append(append(strictjson.Quote(comma(b), name), ':'), "{}"...)
			}
		}
		return append(b, '}')
	}
	b := []byte{'{'}
	add := func(name string, value []byte) {
		b = append(append(strictjson.Quote(comma(b), name), ':'), value...)
	}
	var modes []byte
	for _, mode := range []string{"form", "url"} {
		if mcp.ElicitationMode(declared, mode) {
			modes = append(append(strictjson.Quote(comma(append([]byte{'{'}, modes...)), mode), ':'), "{}"...)[1:]
		}
	}
	if modes != nil {
		add("elicitation", append(append([]byte{'{'}, modes...), '}'))
	}
	if e := extensions(declared); e != nil {
		add("extensions", e)
	}
	if roots && mcp.CapRoots.Declared(declared) {
		add("roots", []byte("{}")) // without listChanged (B11.8)
	}
	if mcp.CapSampling.Declared(declared) {
		add("sampling", sub(mcp.CapSampling, "context", "tools"))
	}
	if len(b) == 1 {
		return ""
	}
	return string(append(b, '}'))
}

// comma separates members of an object that is being written.
func comma(b []byte) []byte {
	if len(b) > 1 {
		b = append(b, ',')
	}
	return b
}

// extensions are the settings of those that mean something to a workload; too
// many or too large ones are none.
func extensions(declared []byte) []byte {
	raw, ok := strictjson.Get(declared, "extensions")
	if !ok {
		return nil
	}
	found := map[string][]byte{}
	strictjson.Each(raw, func(name, value []byte) bool {
		if n := string(name); n != mcp.ExtensionTasks && strictjson.IsObject(value) {
			found[n] = strictjson.Canonical(value)
		}
		return len(found) <= maxExtensions
	})
	if len(found) == 0 || len(found) > maxExtensions {
		return nil
	}
	b := []byte{'{'}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		b = append(append(strictjson.Quote(comma(b), name), ':'), found[name]...)
	}
	if len(b) > maxExtensionBytes {
		return nil
	}
	return append(b, '}')
}

// WidestFingerprint is that of a client that takes everything: what the
// inventory is read with (P7).
func WidestFingerprint(roots bool) string {
	return fingerprint([]byte(`{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{},"context":{}},"roots":{}}`), roots)
}
