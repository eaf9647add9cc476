//go:build peers

package interop

import (
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/transport/streamable"
	"github.com/fairlead-dev/fairlead/test/conformance/record"
)

// place is where foreign clients meet what is ours.
type place struct {
	name string
	// more is more than is kept of a stream there: so many messages of so many
	// bytes. The sidecar keeps 4 MiB; of the progress that comes at once it
	// hands on 64.
	more struct{ n, size int }
	open func(t *testing.T, o tune) (http.Handler, counts)
}

// counts say what a place holds.
type counts struct {
	// calls are the requests that it still works on.
	sessions, streams, calls func() int
}

// smallRing is the events of a stream that our server keeps in TestLostStream.
const smallRing = 8

// places are our server and the sidecar in front of it, over HTTP and pipes.
func places() []place {
	type more = struct{ n, size int }
	few, large := more{2 * smallRing, 10}, more{100, 100 << 10}
	return []place{
		{"our server", few, func(t *testing.T, o tune) (http.Handler, counts) {
			front := inProcess(t, o)
			return front, countsOf(front)
		}},
		{"sidecar, HTTP", large, func(t *testing.T, o tune) (http.Handler, counts) { return overHTTP(t, nil) }},
		{"sidecar, legacy HTTP", large, func(t *testing.T, o tune) (http.Handler, counts) { return overHTTP(t, mcp.Legacy()) }},
		{"sidecar, modern HTTP", large, func(t *testing.T, o tune) (http.Handler, counts) { return overHTTP(t, mcp.Modern()) }},
		{"sidecar, pipes", large, func(t *testing.T, o tune) (http.Handler, counts) {
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			s := runs(t, "--stdio", "--", self, asWorkload)
			return s.front(), s.counts()
		}},
	}
}

// overHTTP is the sidecar in front of our server with these revisions.
func overHTTP(t *testing.T, offer mcp.Offer) (http.Handler, counts) {
	t.Helper()
	web := httptest.NewServer(inProcess(t, tune{offer: offer}))
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
	})
	s := runs(t, "--http", web.URL+"/mcp")
	return s.front(), s.counts()
}

func (s *sidecar) counts() counts {
	return counts{
		func() int { return s.metric("fairlead_active_sessions") },
		func() int { return s.metric("fairlead_active_streams") },
		func() int { return s.metric("fairlead_active_requests") },
	}
}

// countsOf a server in this process: what a tool has said is on its stream.
func countsOf(s *streamable.Server) counts {
	return counts{s.Sessions, s.Streams, func() int { return 0 }}
}

// stage is a place with everything around it: client, cutter, recording, watch,
// pipe, place.
type stage struct {
	counts
	url  string
	cut  *cutter
	seen *watch
}

// stages sets a place up until the end of the test.
func stages(t *testing.T, p place, o tune, change pipe) *stage {
	t.Helper()
	next, holds := p.open(t, o)
	return around(t, next, holds, change)
}

// around puts what watches around a place.
func around(t *testing.T, next http.Handler, holds counts, change pipe) *stage {
	t.Helper()
	if change != nil {
		next = change(next)
	}
	seen := &watch{Handler: next}
	web := httptest.NewServer(record.Handler(seen, log(t)))
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
		if n := seen.changed.Load(); n > 0 {
			t.Errorf("%d answers changed the session's id", n) // P10
		}
		if n := seen.unavailable.Load(); n > 0 {
			t.Errorf("%d answers were 503", n) // P1
		}
	})
	url, cut := through(t, web.URL+"/mcp")
	return &stage{holds, url, cut, seen}
}
