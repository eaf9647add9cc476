package proxy_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/sidecar/upstream"
	upstdio "github.com/fairlead-dev/fairlead/sidecar/upstream/stdio"
)

// lastWords is how often each pairing is tried: whether the answer or the end is
// seen first is a matter of chance.
const lastWords = 4

// A process that answers and ends at once: its answer wins over its end, for
// whoever asks and however processes are shared out. B3.8
func TestTheAnswerOfAProcessThatEndsAtOnce(t *testing.T) {
	model := func(m upstdio.Model, recreate bool) func(*upstdio.Config) {
		return func(cfg *upstdio.Config) { cfg.Model, cfg.Recreate, cfg.MaxProcesses = m, recreate, 64 }
	}
	last := script{"tools/call:last": {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","content":[],"at":"last"}}`, "!exit 1"}}
	for name, tc := range map[string]struct {
		s      script
		era    upstream.Era
		alter  func(*upstdio.Config)
		modern bool
	}{
		"legacy to legacy":               {plain(last), upstream.EraLegacy, model("", false), false},
		"legacy to legacy, recreated":    {plain(last), upstream.EraLegacy, model("", true), false},
		"legacy to legacy, shared":       {plain(last), upstream.EraLegacy, model(upstdio.Shared, false), false},
		"legacy to legacy, pooled":       {plain(last), upstream.EraLegacy, model(upstdio.Pooled, false), false},
		"modern to legacy":               {plain(last), upstream.EraLegacy, model("", false), true},
		"modern to legacy, shared":       {plain(last), upstream.EraLegacy, model(upstdio.Shared, false), true},
		"modern to legacy, pooled":       {plain(last), upstream.EraLegacy, model(upstdio.Pooled, false), true},
		"legacy to modern":               {stateless(last), upstream.EraModern, model("", false), false},
		"modern to modern":               {stateless(last), upstream.EraModern, model("", false), true},
		"modern to legacy, never asking": {plain(last), upstream.EraLegacy, model("", false), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := servePool(t, tc.s, tc.era, tc.alter)
			for n := range lastWords {
				c := r.legacy
				if tc.modern {
					c = r.modern
				}
				if strings.HasSuffix(name, "never asking") {
					c = func() *client { return r.declaring(`{}`) }
				}
				if got := c().call("tools/call", `{"name":"last","arguments":{"n":`+strconv.Itoa(n)+`}}`); !strings.Contains(got, `"at":"last"`) {
					t.Errorf("%d: %s", n, got)
				}
				<-r.ends // the next request is for the next process
			}
		})
	}
}
