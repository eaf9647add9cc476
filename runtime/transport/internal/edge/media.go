package edge

import (
	"mime"
	"net/http"
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/hook"
)

// MediaType checks Content-Type and Content-Encoding of a POST (P33.1, P33.5).
func MediaType(h http.Header) *Denial {
	media, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	charset, given := params["charset"]
	if err != nil || media != "application/json" || given && !strings.EqualFold(charset, "utf-8") {
		return deny(http.StatusUnsupportedMediaType, hook.RejectMediaType, "content type must be application/json")
	}
	if coding := h.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return deny(http.StatusUnsupportedMediaType, hook.RejectEncoding, "content encoding not supported").with("Accept-Encoding", "identity")
	}
	return nil
}
