package upstream

import (
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Fixed is the revision with a handshake that a workload is configured to speak
// (B1.1). Where that is empty, or of the other era, the two agree on one.
type Fixed string

// set is the revision, if there is one.
func (f Fixed) set() (string, bool) {
	p, ok := mcp.Lookup(string(f))
	return string(f), ok && p.Handshake
}

// Accept reports whether the workload may speak a revision after its handshake.
func (f Fixed) Accept(revision string) bool {
	if want, ok := f.set(); ok {
		return revision == want
	}
	return Accept(revision)
}

// Offer makes the params of a client's initialize offer that revision.
func (f Fixed) Offer(params []byte) []byte {
	want, ok := f.set()
	if !ok {
		return params
	}
	// What is no object the workload refuses in its own words.
	if out, err := strictjson.Splice(params, strictjson.Set(strictjson.Quote(nil, want), "protocolVersion")); err == nil {
		return out
	}
	return params
}

// Era is the era of the configured revision, "" to find out.
func (f Fixed) Era() Era {
	p, ok := mcp.Lookup(string(f))
	switch {
	case !ok:
		return ""
	case p.Handshake:
		return EraLegacy
	}
	return EraModern
}
