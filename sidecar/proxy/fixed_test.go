package proxy_test

import (
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/sidecar/upstream"
	upstdio "github.com/fairlead-dev/fairlead/sidecar/upstream/stdio"
)

// A workload with a configured revision is spoken to in that one, whatever its
// clients speak, and may not answer with another. B1.1, B4.11
func TestTheRevisionThatIsConfigured(t *testing.T) {
	answers := func(revision string) script {
		return plain(script{"initialize": {`{"jsonrpc":"2.0","id":$ID,"result":{"protocolVersion":"` + revision + `","capabilities":{"tools":{}},"serverInfo":{"name":"child","version":"1"},"saw":$LINE}}`}})
	}
	for name, model := range map[string]upstdio.Model{"a process each": "", "one process": upstdio.Shared, "warm processes": upstdio.Pooled} {
		t.Run(name, func(t *testing.T) {
			alter := func(cfg *upstdio.Config) { cfg.Model, cfg.Revision = model, "2025-03-26" }
			r := servePool(t, answers("2025-03-26"), upstream.EraLegacy, alter)
			for _, revision := range []string{"2024-11-05", "2025-11-25"} {
				c, got := r.initialize(revision, "{}")
				if member(got, "result", "protocolVersion") != `"`+revision+`"` || member(got, "result", "saw", "params", "protocolVersion") != `"2025-03-26"` {
					t.Errorf("%s: %s", revision, got)
				}
				if got := c.call("tools/list", ""); !strings.Contains(got, `"name":"a"`) {
					t.Errorf("%s: %s", revision, got)
				}
			}
			if got := r.modern().call("tools/list", ""); !strings.Contains(got, `"name":"a"`) {
				t.Error(got)
			}
			r = servePool(t, answers("2025-06-18"), upstream.EraLegacy, alter)
			if got := r.modern().call("tools/list", ""); !strings.Contains(got, `"workload_failed"`) {
				t.Error(got)
			}
		})
	}
}
