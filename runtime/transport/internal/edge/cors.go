package edge

import (
	"net/http"
	"slices"
	"strings"
)

// allowedHeaders are what browsers may send; Mcp-Param-* besides (P33.3).
var allowedHeaders = []string{"accept", "authorization", "content-type", "last-event-id", "mcp-method", "mcp-name", "mcp-protocol-version", "mcp-session-id", "traceparent", "tracestate", "baggage"}

// Preflight fills in the head of an answer to OPTIONS, which comes before
// authentication (P34). An origin that is not allowed has been refused by now.
func Preflight(h http.Header, r *http.Request, methods string) {
	h.Set("Allow", methods)
	if r.Header.Get("Origin") != "" {
		h.Set("Access-Control-Allow-Methods", methods)
		h.Set("Access-Control-Max-Age", "600")
		var names []string
		for _, name := range strings.Split(r.Header.Get("Access-Control-Request-Headers"), ",") {
			name = strings.ToLower(strings.TrimSpace(name))
			if slices.Contains(allowedHeaders, name) || strings.HasPrefix(name, "mcp-param-") && token(name) {
				names = append(names, name)
			}
		}
		if names != nil {
			h.Set("Access-Control-Allow-Headers", strings.Join(names, ", "))
		}
		h.Add("Vary", "Access-Control-Request-Headers")
	}
}

// token reports whether text is an RFC 9110 token.
func token(text string) bool {
	for i := range len(text) {
		c := text[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return text != ""
}
