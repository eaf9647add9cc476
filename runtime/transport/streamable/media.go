package streamable

import (
	"net/http"
	"strconv"
	"strings"
)

const (
	typeJSON   = "application/json"
	typeStream = "text/event-stream"
)

// accepts is what the client takes (R1).
type accepts struct{ json, stream bool }

// accept reads the Accept fields as HTTP says: absent means everything, the
// most specific range counts, q=0 refuses.
func accept(h http.Header) accepts {
	lines := h["Accept"]
	if len(lines) == 0 || strings.TrimSpace(strings.Join(lines, "")) == "" {
		return accepts{json: true, stream: true}
	}
	var out accepts
	var jsonAt, streamAt int // how specific the range was that decided
	for _, part := range strings.Split(strings.Join(lines, ","), ",") {
		name, params, _ := strings.Cut(part, ";")
		name = strings.ToLower(strings.TrimSpace(name))
		ok := quality(params) > 0
		if at := matches(name, typeJSON); at > jsonAt {
			out.json, jsonAt = ok, at
		}
		if at := matches(name, typeStream); at > streamAt {
			out.stream, streamAt = ok, at
		}
	}
	return out
}

// matches says how specifically a media range covers a type: 0 not at all, 3
// exactly.
func matches(name, media string) int {
	main, _, _ := strings.Cut(media, "/")
	switch name {
	case media:
		return 3
	case main + "/*":
		return 2
	case "*/*", "*":
		return 1
	}
	return 0
}

// quality reads q out of the parameters; a broken one counts as 1.
func quality(params string) float64 {
	for _, p := range strings.Split(params, ";") {
		name, value, ok := strings.Cut(p, "=")
		if !ok || !strings.EqualFold(strings.TrimSpace(name), "q") {
			continue
		}
		if q, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil {
			return q
		}
	}
	return 1
}
