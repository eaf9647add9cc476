package guard

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/fairlead-dev/fairlead/runtime/auth"
)

// Handler serves the document where it is asked for and hands everything else
// to next, unchecked: a streamable server checks by itself.
func (g *Guard) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if g.IsMetadata(r) {
			g.ServeMetadata(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Protect checks every request before next, which finds the identity in the
// request's context (auth.FromContext). The context ends with the token, so
// that a long answer does too. OPTIONS passes: preflights carry no token.
func (g *Guard) Protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodOptions {
			next.ServeHTTP(w, r)
			return
		}
		id, err := g.Authenticate(r)
		if err != nil {
			Refuse(w, err)
			return
		}
		ctx, stop := auth.UntilExpiry(auth.NewContext(r.Context(), id), id)
		defer stop()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// Refuse answers a request with an error of Authenticate and closes the
// connection, because the body will not be read.
func Refuse(w http.ResponseWriter, err error) {
	var denied *auth.Denied
	if !errors.As(err, &denied) {
		denied = &auth.Denied{Status: http.StatusUnauthorized, Message: "not authenticated"}
	}
	h := w.Header()
	h.Set("Connection", "close")
	if denied.Challenge != "" {
		h.Set("WWW-Authenticate", denied.Challenge)
	}
	if denied.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(denied.RetryAfter.Seconds())))
	}
	http.Error(w, denied.Message, denied.Status)
}
