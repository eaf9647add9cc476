package http

import (
	"context"
	"errors"
	"io"
	"net"
	nethttp "net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// ancient is a server of HTTP+SSE as the first ones were: what it says of a
// session comes on that session's stream, and the stream is the session.
type ancient struct {
	mu      sync.Mutex
	streams map[string]chan string
	serial  int
	log     []string
}

func (a *ancient) ServeHTTP(w nethttp.ResponseWriter, r *nethttp.Request) {
	id := r.URL.Query().Get("session")
	switch {
	case r.Method == nethttp.MethodGet:
		a.stream(w, r)
	case id == "":
		w.WriteHeader(nethttp.StatusMethodNotAllowed)
	default:
		a.take(id, r)
		w.WriteHeader(nethttp.StatusAccepted)
	}
}

func (a *ancient) stream(w nethttp.ResponseWriter, r *nethttp.Request) {
	out := make(chan string, 16)
	a.mu.Lock()
	a.serial++
	id := string(rune('a' + a.serial - 1))
	a.streams[id] = out
	a.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, "event: endpoint\ndata: /messages?session="+id+"\n\n")
	w.(nethttp.Flusher).Flush()
	for {
		select {
		case line, open := <-out:
			if !open {
				return
			}
			_, _ = io.WriteString(w, "event: message\ndata: "+line+"\n\n")
			w.(nethttp.Flusher).Flush()
		case <-r.Context().Done():
			return
		}
	}
}

func (a *ancient) take(id string, r *nethttp.Request) {
	body, _ := io.ReadAll(r.Body)
	m, err := jsonrpc.Parse(body, strictjson.FromWorkload)
	if err != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.log = append(a.log, strings.TrimSpace(id+" "+m.Method+" "+string(m.Params)))
	result := `{"stream":"` + id + `"}`
	if m.Method == "initialize" {
		result = `{"protocolVersion":"2024-11-05","capabilities":{"resources":{"subscribe":true}},"serverInfo":{"name":"ancient","version":"1"}}`
	}
	if out := a.streams[id]; out != nil && m.Kind == jsonrpc.KindRequest && m.Method != "hang" {
		out <- `{"jsonrpc":"2.0","id":` + m.ID.String() + `,"result":` + result + `}`
	}
}

// cut ends every stream, as a restart does.
func (a *ancient) cut() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, out := range a.streams {
		close(out)
		delete(a.streams, id)
	}
	a.log = nil
}

func (a *ancient) wrote() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return strings.Join(a.log, "; ")
}

// B1.3, W13.7: a workload that cannot be POSTed to is one of HTTP+SSE; the
// stream that breaks is a session that it has forgotten (B3.7).
func TestAWorkloadOfTheOlderTransport(t *testing.T) {
	a := &ancient{streams: map[string]chan string{}}
	var renewed []error
	var mu sync.Mutex
	cfg := Config{}
	cfg.Hooks.Renewed = func(err error) {
		mu.Lock()
		defer mu.Unlock()
		renewed = append(renewed, err)
	}
	served(t, cfg, a, func(t *testing.T, w *Workload) {
		info, err := w.Handshake(t.Context())
		if err != nil || info.Era != upstream.EraLegacy || info.Revision != "2024-11-05" || info.Name != "ancient" {
			t.Fatalf("%+v, %v", info, err)
		}
		leg, err := w.OpenSession(t.Context(), upstream.SessionRequest{Params: upstream.InitializeParams(upstream.Key{})})
		if err != nil {
			t.Fatal(err)
		}
		call := func(method, params string) string {
			r := peer.Request{Method: method}
			if params != "" {
				r.Params = []byte(params)
			}
			answer, err := leg.Call(t.Context(), r)
			if err != nil {
				return string(peer.ReasonOf(err))
			}
			return string(answer.Result)
		}
		if got := call("x", ""); got != `{"stream":"b"}` {
			t.Error(got)
		}
		call("resources/subscribe", `{"uri":"x:1"}`)
		call("logging/setLevel", `{"level":"info"}`)
		waits := make(chan string, 1)
		go func() { waits <- call("hang", "") }()
		synctest.Wait()
		a.cut()
		if got := <-waits; got != "workload_restarted" {
			t.Errorf("in flight: %s", got)
		}
		time.Sleep(time.Second) // it comes back by itself, and knows what it knew
		synctest.Wait()
		for _, want := range []string{`logging/setLevel {"level":"info"}`, `resources/subscribe {"uri":"x:1"}`} {
			if got := a.wrote(); !strings.Contains(got, want) {
				t.Errorf("no %s in %s", want, got)
			}
		}
		if got := call("x", ""); !strings.HasPrefix(got, `{"stream":`) || got == `{"stream":"b"}` || leg.Err() != nil {
			t.Errorf("%s, %v", got, leg.Err())
		}
		if _, err := w.Handshake(t.Context()); err != nil {
			t.Errorf("the next look: %v", err)
		}
		mu.Lock()
		defer mu.Unlock()
		if err := errors.Join(renewed...); len(renewed) != 2 || err != nil {
			t.Errorf("renewed %v", renewed)
		}
	})
}

// A server that refuses both is explained by its answer to the newer one.
func TestAServerOfNeitherTransport(t *testing.T) {
	refuse := nethttp.HandlerFunc(func(w nethttp.ResponseWriter, _ *nethttp.Request) { w.WriteHeader(nethttp.StatusNotFound) })
	served(t, Config{}, refuse, func(t *testing.T, w *Workload) {
		_, err := w.Handshake(t.Context())
		var h *upstream.HandshakeError
		if !errors.As(err, &h) || h.Reason != "HTTPStatus" {
			t.Error(err)
		}
	})
}

// served runs f with a workload behind a handler, in virtual time.
func served(t *testing.T, cfg Config, h nethttp.Handler, f func(t *testing.T, w *Workload)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &server{conns: make(chan net.Conn), done: make(chan struct{}), sessions: map[string]bool{}}
		hs := &nethttp.Server{Handler: h}
		go func() { _ = hs.Serve(s) }()
		cfg.Port, cfg.Path, cfg.Dial = 3000, "/sse", s.dial
		w := New(cfg)
		f(t, w)
		ctx, stop := context.WithTimeout(context.Background(), time.Second)
		defer stop()
		w.Shutdown(ctx)
		close(s.done)
		_ = hs.Close()
		synctest.Wait()
	})
}
