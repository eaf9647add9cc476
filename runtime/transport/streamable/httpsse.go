package streamable

import (
	"net/http"

	"github.com/fairlead-dev/fairlead/runtime/transport/httpsse"
)

// older makes the server of HTTP+SSE that shares the URL (P17), nil when it is
// not wanted.
func (s *Server) older() *httpsse.Server {
	if !s.HTTPSSE {
		return nil
	}
	return &httpsse.Server{
		Handler: s.Handler, Keys: s.Keys, Pod: s.Pod, Epoch: s.Epoch, Path: s.path(),
		Authenticate: s.Authenticate, Client: s.Client, Receive: s.Receive, Send: s.Send,
		Budget: s.Budget, StreamLimits: s.StreamLimits, Observer: s.Observer,
		Settings: func() httpsse.Settings {
			set := s.settings()
			return httpsse.Settings{
				Revisions:    set.Revisions,
				MaxBodyBytes: set.MaxBodyBytes, BodyTimeout: set.BodyTimeout, RequestTimeout: set.RequestTimeout,
				KeepAlive: set.KeepAlive, WriteTimeout: set.WriteTimeout, MaxConcurrent: set.MaxConcurrent,
				MaxConnections: set.MaxSessions, MaxConnectionsPerPrincipal: set.MaxSessionsPerPrincipal,
				AllowedOrigins: set.AllowedOrigins,
			}
		},
	}
}

// isOlder reports whether a request is for HTTP+SSE. Connections that are open
// when it is turned off live on.
func (s *Server) isOlder(r *http.Request) bool {
	return s.sse != nil && httpsse.Concerns(r) && (r.Method != http.MethodGet || !s.settings().NoHTTPSSE)
}
