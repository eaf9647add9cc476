package streamable

import (
	"net/http"

	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/transport/internal/edge"
)

// Header names in their canonical form.
const (
	headerSession   = "Mcp-Session-Id"
	headerVersion   = "Mcp-Protocol-Version"
	headerMethod    = "Mcp-Method"
	headerName      = "Mcp-Name"
	headerLastEvent = "Last-Event-Id"
	prefixParam     = "Mcp-Param-"
)

// single are the fields that decide something and may come only once (P33.6).
var single = []string{headerSession, headerVersion, headerMethod, headerName, headerLastEvent, "Content-Type", "Content-Encoding", "Authorization"}

const methods = "POST, GET, DELETE, OPTIONS"

// edge checks what is decided before anything is read: Host and Origin (W17),
// fields that come twice, tokens in the query (W38.3).
func (q *request) edge() *refusal {
	if denial := edge.Admit(q.W.Header(), q.r, q.settings.AllowedOrigins); denial != nil {
		return denied(denial)
	}
	size, several := measure(q.r.Header)
	if size > maxFields {
		return invalid(http.StatusRequestHeaderFieldsTooLarge, hook.RejectHeader, "too many header fields").closing()
	}
	if several {
		if name, twice := edge.Repeated(q.r.Header, single, prefixParam); twice {
			return q.repeated(name)
		}
	}
	return nil
}

// maxFields bounds all header fields of a request together, whatever the
// http.Server takes (W15.12, P33.6).
const maxFields = 64 << 10

// field is a field by its canonical name, the first if there are several.
func (q *request) field(name string) string {
	if values := q.r.Header[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// measure tells how large all fields are together, and whether any came more
// than once.
func measure(h http.Header) (size int, several bool) {
	for name, values := range h {
		several = several || len(values) > 1
		for _, v := range values {
			size += len(name) + len(v)
		}
	}
	return size, several
}

// denied is a refusal of the edge.
func denied(d *edge.Denial) *refusal {
	return &refusal{Denial: *d}
}

// preflight answers OPTIONS.
func (q *request) preflight() {
	edge.Preflight(q.W.Header(), q.r, methods)
	q.NoContent()
}

// read takes the body.
func (p *posted) read() *edge.Denial {
	return p.body.Read(p.W, p.r, edge.Limits{Bytes: p.settings.MaxBodyBytes, Time: p.settings.BodyTimeout, Budget: p.s.Budget})
}
