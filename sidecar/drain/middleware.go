package drain

import (
	"io"
	"net/http"
)

// Middleware counts requests in and out, says `Connection: close` on answers to
// requests that come once the drain is closing, and refuses with 503 at the end.
// refused may be nil; it is told of each refusal. Requests that came before are
// next's to say goodbye to.
//
// HTTP/2 has no such header; there the server's own shutdown says goodbye.
func (d *Drainer) Middleware(next http.Handler, refused func()) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		leave, ok := d.Enter()
		if !ok {
			if refused != nil {
				refused()
			}
			h := w.Header()
			h.Set("Connection", "close")
			h.Set("Retry-After", "1")
			h.Set("Content-Type", "text/plain; charset=utf-8")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, "This pod is shutting down.\n")
			return
		}
		defer leave()
		if r.ProtoMajor == 1 && d.State() >= Closing {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}
