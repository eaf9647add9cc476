package drain

import (
	"io"
	"net/http"
)

// Middleware counts requests in and out, says `Connection: close` on answers
// once the drain is closing, and refuses with 503 at the end. refused may
// be nil; it is told of each refusal.
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
		if r.ProtoMajor == 1 {
			w = &writer{ResponseWriter: w, d: d}
		}
		next.ServeHTTP(w, r)
	})
}

// writer decides about the connection when the head is written, which may be
// long after the request began.
type writer struct {
	http.ResponseWriter
	d     *Drainer
	wrote bool
}

// Unwrap lets deadlines reach the real writer.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *writer) head() {
	if w.wrote {
		return
	}
	w.wrote = true
	if w.d.State() >= Closing {
		w.Header().Set("Connection", "close")
	}
}

func (w *writer) WriteHeader(code int) {
	if code >= 200 { // 1xx is not the head yet
		w.head()
	}
	w.ResponseWriter.WriteHeader(code)
}

func (w *writer) Write(b []byte) (int, error) {
	w.head()
	return w.ResponseWriter.Write(b)
}

// FlushError commits the head too, so it must pass by here.
func (w *writer) FlushError() error {
	w.head()
	if f, ok := w.ResponseWriter.(interface{ FlushError() error }); ok {
		return f.FlushError()
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Flush is FlushError for callers that look for http.Flusher.
func (w *writer) Flush() { _ = w.FlushError() }
