package proxy_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/fairlead-dev/fairlead/sidecar/upstream"
	upstdio "github.com/fairlead-dev/fairlead/sidecar/upstream/stdio"
)

func (l *local) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.starts
}

// B19.4, R23: two clients with sessions and one without on one process, all
// with the same ids and progress tokens, each with what is its own.
func TestClientsOfOneProcessAreKeptApart(t *testing.T) {
	r := servePool(t, plain(script{
		"tools/call": {
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$TOKEN,"progress":1}}`,
			`{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"structuredContent":{"saw":$LINE}}}`,
		},
	}), upstream.EraLegacy, func(cfg *upstdio.Config) { cfg.Model = upstdio.Shared })
	clients := []*client{r.legacy(), r.legacy(), r.modern()}
	var wg sync.WaitGroup
	for i, c := range clients {
		wg.Go(func() {
			for n := range 20 {
				mine := fmt.Sprintf("secret of %d, %d", i, n)
				res := c.request("7", "tools/call", `{"name":"a","arguments":{"x":"`+mine+`"},"_meta":{"progressToken":"same"}}`).rest()
				all := strings.Join(res.messages, "\n")
				if len(res.messages) != 2 || !strings.Contains(res.messages[0], `"progressToken":"same"`) ||
					!strings.HasPrefix(res.messages[1], `{"jsonrpc":"2.0","id":7,`) || !strings.Contains(all, mine) {
					t.Errorf("client %d: %s", i, all)
				}
				for other := range clients {
					if other != i && strings.Contains(all, fmt.Sprintf("secret of %d,", other)) {
						t.Errorf("client %d was given another's: %s", i, all)
					}
				}
			}
		})
	}
	wg.Wait()
	if n := r.child.count(); n != 1 {
		t.Errorf("%d processes were started", n)
	}
}

// B3.8, P15: the process dies under one client's call; the others' sessions go
// on with the next one.
func TestSessionsOnOneProcessSurviveIt(t *testing.T) {
	r := servePool(t, plain(script{"tools/call:die": {"!exit 3"}}), upstream.EraLegacy, func(cfg *upstdio.Config) { cfg.Model = upstdio.Shared })
	a, b := r.legacy(), r.legacy()
	if got := a.call("tools/call", `{"name":"die"}`); !strings.Contains(got, `"workload_restarted"`) {
		t.Errorf("in flight: %s", got)
	}
	for _, c := range []*client{a, b} {
		if got := c.call("tools/list", ""); !strings.Contains(got, `"name":"a"`) {
			t.Errorf("after the crash: %s", got)
		}
	}
	if n := r.child.count(); n != 2 {
		t.Errorf("%d processes were started", n)
	}
}

// R23: what was started beforehand serves both eras.
func TestASessionOfPooledProcesses(t *testing.T) {
	r := servePool(t, plain(nil), upstream.EraLegacy, func(cfg *upstdio.Config) { cfg.Model, cfg.Recreate = upstdio.Pooled, true })
	a := r.legacy()
	if got := a.call("tools/list", ""); !strings.Contains(got, `"name":"a"`) {
		t.Error(got)
	}
	if got := r.modern().call("tools/list", ""); !strings.Contains(got, `"name":"a"`) {
		t.Error(got)
	}
}

// C11, W18.7: the end of one session on a shared process does not close its
// stdin while a call of another runs, and the call gets its result.
func TestTheEndOfOneSessionOnASharedProcess(t *testing.T) {
	r := servePool(t, plain(script{
		"tools/call:slow": {
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$TOKEN,"progress":1}}`, "!await prompts/list",
			`{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}`,
		},
	}), upstream.EraLegacy, func(cfg *upstdio.Config) { cfg.Model = upstdio.Shared })
	a, b, c := r.legacy(), r.legacy(), r.legacy()
	s := a.request("1", "tools/call", `{"name":"slow","_meta":{"progressToken":"t"}}`)
	defer s.close()
	s.want(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}}`)
	if res := b.send(http.MethodDelete, "", nil).rest(); res.status != http.StatusNoContent {
		t.Fatalf("DELETE: %d", res.status)
	}
	c.call("prompts/list", "")
	s.want(`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)
	if n := r.child.count(); n != 1 {
		t.Errorf("%d processes were started", n)
	}
}
