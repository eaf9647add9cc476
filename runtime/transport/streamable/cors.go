package streamable

import (
	"net/http"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/transport/internal/edge"
)

// CORS puts another handler of the same site behind the rules that a Server has
// for browsers by itself (R21, W17, P33.3): Host and Origin are checked,
// preflights are answered, and allowed origins may read answers, errors too. It
// is for what stands beside the endpoint, such as metadata documents. allowed is
// asked per request for exact origins, methods is what the handler takes, such
// as "GET, OPTIONS".
func CORS(next http.Handler, methods string, allowed func() []string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d := edge.Admit(w.Header(), r, allowed()); d != nil {
			for _, field := range d.Header {
				w.Header().Set(field[0], field[1])
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(d.Status)
			_, _ = w.Write(jsonrpc.EncodeError(jsonrpc.ID{}, &jsonrpc.Error{Code: d.Code, Message: d.Text}))
			return
		}
		if r.Method == http.MethodOptions {
			edge.Preflight(w.Header(), r, methods)
			w.WriteHeader(http.StatusNoContent)
			return
		}
		next.ServeHTTP(w, r)
	})
}
