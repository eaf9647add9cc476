//go:build peers

package interop

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
)

const sessionHeader = "Mcp-Session-Id"

// watch looks at what passes a server.
type watch struct {
	http.Handler
	// gets and posts are open now; the others are all there were.
	gets, posts                      atomic.Int64
	opened, resumed, deletes, pushed atomic.Int64
	// changed counts answers that named another session than their request,
	// unavailable those with 503.
	changed, unavailable atomic.Int64

	mu sync.Mutex
	// primed are GETs that are open and have been sent an event id.
	primed map[*seer]context.CancelCauseFunc
	// given are the sessions that were begun, used how many requests named
	// each.
	given map[string]bool
	used  map[string]int
}

// ids are the sessions that were begun and those that requests named.
func (s *watch) ids() (given map[string]bool, used map[string]int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.given), maps.Clone(s.used)
}

// named notes the session that a request names, and what the answer to one
// without names.
func (s *watch) named(asked, said string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.given == nil {
		s.given, s.used = map[string]bool{}, map[string]int{}
	}
	switch {
	case asked != "":
		s.used[asked]++
	case said != "":
		s.given[said] = true
	}
}

func (s *watch) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	open := &s.posts
	switch r.Method {
	case http.MethodGet:
		open = &s.gets
		s.opened.Add(1)
		if r.Header.Get("Last-Event-ID") != "" {
			s.resumed.Add(1)
		}
	case http.MethodDelete:
		s.deletes.Add(1)
	}
	open.Add(1)
	defer open.Add(-1)
	ctx, stop := context.WithCancelCause(r.Context())
	defer stop(nil)
	one := &seer{ResponseWriter: w, asked: r, watch: s, stop: stop}
	defer func() {
		s.mu.Lock()
		delete(s.primed, one)
		s.mu.Unlock()
	}()
	s.Handler.ServeHTTP(one, r.WithContext(ctx))
	if errors.Is(context.Cause(ctx), errBroken) {
		panic(http.ErrAbortHandler) // the connection breaks after what was sent
	}
}

// errBroken ends a GET on behalf of the test.
var errBroken = errors.New("the stream was broken")

// breaks ends the GETs whose clients have an event id by now, as a connection
// that breaks does, and returns how many. Unlike a cut it loses nothing that
// was sent: TypeScript gives up for ever after two GETs without an answer (P1).
func (s *watch) breaks() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, stop := range s.primed {
		stop(errBroken)
	}
	return len(s.primed)
}

// seer looks at one answer.
type seer struct {
	http.ResponseWriter
	asked *http.Request
	watch *watch
	stop  context.CancelCauseFunc
	begun bool
	// named: an event id was written to a GET.
	named bool
}

func (s *seer) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func (s *seer) WriteHeader(status int) {
	if !s.begun && status >= http.StatusOK {
		s.begun = true
		asked, said := s.asked.Header.Get(sessionHeader), s.Header().Get(sessionHeader)
		s.watch.named(asked, said)
		if asked != "" && said != "" && said != asked {
			s.watch.changed.Add(1)
		}
		if status == http.StatusServiceUnavailable {
			s.watch.unavailable.Add(1)
		}
	}
	s.ResponseWriter.WriteHeader(status)
}

func (s *seer) Write(b []byte) (int, error) {
	if !s.begun {
		s.WriteHeader(http.StatusOK)
	}
	n, err := s.ResponseWriter.Write(b)
	if s.asked.Method != http.MethodGet {
		return n, err
	}
	if bytes.Contains(b, []byte("list_changed")) {
		s.watch.pushed.Add(1)
	}
	s.named = s.named || bytes.Contains(b, []byte("id:"))
	return n, err
}

// FlushError implements what http.ResponseController looks for.
func (s *seer) FlushError() error {
	err := http.NewResponseController(s.ResponseWriter).Flush()
	if err == nil && s.named {
		s.watch.mu.Lock()
		defer s.watch.mu.Unlock()
		if s.watch.primed == nil {
			s.watch.primed = map[*seer]context.CancelCauseFunc{}
		}
		s.watch.primed[s] = s.stop
	}
	return err
}

// pipe changes what reaches a server; it stands between watch and server, and
// the watch sees what the client gets.
type pipe func(http.Handler) http.Handler

// refuse answers a method itself: the server never hears of it.
func refuse(method string, status int) pipe {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != method {
				next.ServeHTTP(w, r)
				return
			}
			w.WriteHeader(status)
		})
	}
}

// held answers `initialized` itself and keeps it until it is let go.
type held struct {
	next http.Handler
	mu   sync.Mutex
	kept []*http.Request
}

func (h *held) pipe(next http.Handler) http.Handler {
	h.next = next
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			next.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client has gone
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if !bytes.Contains(body, []byte(`"notifications/initialized"`)) {
			next.ServeHTTP(w, r)
			return
		}
		late, err := http.NewRequest(r.Method, r.URL.String(), bytes.NewReader(body))
		if err != nil {
			return
		}
		late.Header, late.Host, late.RemoteAddr = r.Header.Clone(), r.Host, r.RemoteAddr
		h.mu.Lock()
		h.kept = append(h.kept, late)
		h.mu.Unlock()
		w.WriteHeader(http.StatusAccepted)
	})
}

// letGo hands on what was kept and returns the answers' statuses.
func (h *held) letGo() (statuses []int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.kept {
		w := httptest.NewRecorder()
		h.next.ServeHTTP(w, r)
		statuses = append(statuses, w.Code)
	}
	h.kept = nil
	return statuses
}

// gate holds resumptions back until it is opened.
type gate struct{ open chan struct{} }

func (g gate) pipe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && r.Header.Get("Last-Event-ID") != "" {
			select {
			case <-g.open:
			case <-r.Context().Done():
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}
