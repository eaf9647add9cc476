package endpoint_test

import (
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/task"
	"github.com/fairlead-dev/fairlead/runtime/task/endpoint"
)

// W35.5, W35.12: what a request of 2025-11-25 says of becoming a task.
func TestWanted(t *testing.T) {
	for name, c := range map[string]struct {
		params string
		wanted bool
		ttl    time.Duration
		bad    bool
	}{
		"no params":             {"", false, 0, false},
		"no member":             {`{"name":"x"}`, false, 0, false},
		"null":                  {`{"task":null}`, false, 0, false},
		"no wish":               {`{"task":{}}`, true, 0, false},
		"a null wish":           {`{"task":{"ttl":null}}`, true, 0, false},
		"a wish":                {`{"task":{"ttl":1500}}`, true, 1500 * time.Millisecond, false},
		"a fraction":            {`{"task":{"ttl":0.5}}`, true, 500 * time.Microsecond, false},
		"no time at all":        {`{"task":{"ttl":0}}`, true, 1, false},
		"more than there is":    {`{"task":{"ttl":1e300}}`, true, 4611686018427387904, false},
		"a negative wish":       {`{"task":{"ttl":-1}}`, true, 0, true},
		"a wish that is a text": {`{"task":{"ttl":"1"}}`, true, 0, true},
		"no object":             {`{"task":true}`, true, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			spec, wanted, bad := endpoint.Wanted([]byte(c.params))
			if wanted != c.wanted || (bad != nil) != c.bad || !c.bad && spec.TTL != c.ttl {
				t.Errorf("ttl %d, wanted %v, refusal %v", spec.TTL, wanted, bad)
			}
		})
	}
}

// W36.1, W36.21, W35.17: the capability belongs to 2025-11-25 alone, the list
// to who can be told from others.
func TestCapability(t *testing.T) {
	engine, err := task.New(task.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close(t.Context())
	e := &endpoint.Endpoint{Engine: engine}
	for _, revision := range mcp.Revisions() {
		p, _ := mcp.Lookup(revision)
		known, unknown := string(e.Capability(p, "somebody")), string(e.Capability(p, ""))
		wantKnown, wantUnknown := "", ""
		if revision == mcp.Revision20251125 {
			wantKnown = `{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}`
			wantUnknown = `{"cancel":{},"requests":{"tools":{"call":{}}}}`
		}
		if known != wantKnown || unknown != wantUnknown {
			t.Errorf("%s: %q, %q", revision, known, unknown)
		}
	}
}
