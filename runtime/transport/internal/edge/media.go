package edge

import (
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/internal/broken"
)

// MediaType checks Content-Type and Content-Encoding of a POST (P33.1, P33.5).
func MediaType(h http.Header) *Denial {
	if kinds := h["Content-Type"]; (len(kinds) != 1 || kinds[0] != typeJSON) && !isJSON(h.Get("Content-Type")) {
		return deny(http.StatusUnsupportedMediaType, hook.RejectMediaType, "content type must be application/json")
	}
	if coding := h["Content-Encoding"]; len(coding) > 0 && coding[0] != "" && !strings.EqualFold(coding[0], "identity") {
		return deny(http.StatusUnsupportedMediaType, hook.RejectEncoding, "content encoding not supported").with("Accept-Encoding", "identity")
	}
	return nil
}

const (
	typeJSON   = "application/json"
	acceptBoth = typeJSON + ", text/event-stream"
)

// isJSON reads a content type that is not just the usual one.
func isJSON(kind string) bool {
	media, params, err := mime.ParseMediaType(kind)
	charset, given := params["charset"]
	return err == nil && media == typeJSON && (!given || strings.EqualFold(charset, "utf-8"))
}

// Accepted is what a client takes of the two types that there are (R1).
type Accepted struct{ JSON, Stream bool }

// Accept reads the Accept fields as HTTP says: absent means everything, the
// most specific range counts, q=0 refuses.
func Accept(h http.Header) Accepted {
	lines := h["Accept"]
	if len(lines) == 0 || strings.TrimSpace(strings.Join(lines, "")) == "" {
		return Accepted{JSON: !broken.Rule("R1"), Stream: true}
	}
	if len(lines) == 1 && lines[0] == acceptBoth { // what nearly all clients send
		return Accepted{JSON: true, Stream: true}
	}
	var out Accepted
	var jsonAt, streamAt int // how specific the range was that decided
	for part := range strings.SplitSeq(strings.Join(lines, ","), ",") {
		name, params, _ := strings.Cut(part, ";")
		name = strings.ToLower(strings.TrimSpace(name))
		ok := quality(params) > 0
		if at := matches(name, "application/json"); at > jsonAt {
			out.JSON, jsonAt = ok, at
		}
		if at := matches(name, "text/event-stream"); at > streamAt {
			out.Stream, streamAt = ok, at
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
	for p := range strings.SplitSeq(params, ";") {
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
