package app

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"

	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/sidecar/observe"
)

// pathHealthz answers load balancers in front of the public port (R20).
const pathHealthz = "/healthz"

// publicHandler is the whole chain of the public port, outermost last. Host,
// Origin, method, media types, sizes and the caller are judged by the endpoint
// itself, because each refusal has a form of the protocol's own.
func (a *App) publicHandler() http.Handler {
	// The endpoint: /mcp and /mcp/ and nothing else (R17).
	var h http.Handler = a.front
	// Before the first live contract and the first key there is no policy to
	// serve by. No state exists yet, so 503 loses nothing (P1).
	h = a.startedLink(h)
	// Counts what is in flight and says goodbye while draining.
	h = a.drainer.Middleware(h, func() { a.metrics.Reject(hook.RejectDraining) })
	// Not counted: a load balancer's probes are no traffic to wait for.
	h = a.healthzLink(h)
	// A panic ends its request and no other.
	return recoverLink(h, a.cfg.Log, a.metrics)
}

func (a *App) startedLink(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.live.Current() == nil || !a.ring.Loaded() {
			a.metrics.Reject(hook.RejectOverload)
			w.Header().Set("Retry-After", "1")
			http.Error(w, "starting", http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (a *App) healthzLink(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != pathHealthz {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		switch {
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		case a.notReady() != "":
			// Why is for the admin port: this one faces strangers.
			http.Error(w, "not ready", http.StatusServiceUnavailable)
		default:
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			_, _ = io.WriteString(w, "ok\n")
		}
	})
}

func recoverLink(next http.Handler, log *slog.Logger, m *observe.Metrics) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			if err, ok := v.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
				m.Panicked()
				log.Error("panic in a handler", "stack", string(debug.Stack()))
			}
			// Whatever was written cannot be taken back: break the connection.
			panic(http.ErrAbortHandler)
		}()
		next.ServeHTTP(w, r)
	})
}
