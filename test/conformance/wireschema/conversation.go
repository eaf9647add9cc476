package wireschema

import (
	"strconv"

	"github.com/fairlead-dev/fairlead/test/conformance/record"
)

const (
	metaVersion    = "io.modelcontextprotocol/protocolVersion"
	firstModern    = "2026-07-28"
	firstStreaming = "2025-03-26" // what a legacy request without the header speaks
)

// conversation knows what a message alone does not say: which request a
// response answers, and the revision it must be judged by.
type conversation struct {
	judge      *Judge
	methods    map[string]asked  // by scope, side and id
	revisions  map[string]string // negotiated, by session
	violations []Violation
}

// asked is a request that a response may belong to.
type asked struct {
	method   string
	params   map[string]any
	revision string
}

func (c *conversation) line(l *record.Line) {
	if l.Broken != "" {
		// What peers break on purpose is theirs to break.
		if l.From == record.Ours {
			c.violation("", "message", "", "is no JSON", []byte(l.Broken))
		}
		return
	}
	v, err := parse(l.Message)
	if err != nil {
		c.violation("", "message", "", err.Error(), l.Message)
		return
	}
	if batch, ok := v.([]any); ok {
		for _, one := range batch {
			c.message(l, one)
		}
		return
	}
	c.message(l, v)
}

func (c *conversation) message(l *record.Line, v any) {
	m, ok := v.(map[string]any)
	if !ok {
		if l.From == record.Ours {
			c.violation("", "message", "", "is no object", l.Message)
		}
		return
	}
	method, _ := m["method"].(string)
	id, hasID := m["id"]
	switch {
	case method != "" && hasID:
		q := asked{method: method, revision: c.revisionOf(l, m)}
		q.params, _ = m["params"].(map[string]any)
		c.methods[key(l, l.From, id)] = q
		if l.From == record.Ours {
			c.judgeCall(q.revision, "request", method, m, l)
		}
	case method != "":
		if l.From == record.Ours {
			c.judgeCall(c.revisionOf(l, m), "notification", method, m, l)
		}
	default:
		q := c.methods[key(l, other(l.From), id)]
		if q.revision == "" {
			q.revision = c.revisionOf(l, m)
		}
		c.negotiated(l, &q, m)
		if l.From == record.Ours {
			c.judgeAnswer(&q, m, l)
		}
	}
}

// key names a request so that its answer finds it. Ids are unique within a
// session; without one the exchange is all there is.
func key(l *record.Line, from record.Side, id any) string {
	scope := "s " + l.Session
	if l.Session == "" {
		scope = "x " + strconv.FormatInt(l.Exchange, 10)
	}
	return scope + " " + string(from) + " " + encoded(id)
}

func other(s record.Side) record.Side {
	if s == record.Ours {
		return record.Theirs
	}
	return record.Ours
}

// negotiated notes the revision of a session, which its initialize settles. The
// id of the session comes with the answer only, so the request was noted
// without it.
func (c *conversation) negotiated(l *record.Line, q *asked, m map[string]any) {
	if q.method == "" && l.Session != "" {
		noSession := *l
		noSession.Session = ""
		if first, ok := c.methods[key(&noSession, other(l.From), m["id"])]; ok {
			*q = first
		}
	}
	if q.method != "initialize" {
		return
	}
	result, _ := m["result"].(map[string]any)
	if revision, ok := result["protocolVersion"].(string); ok {
		c.revisions[l.Session] = revision
		q.revision = revision
	}
}

// revisionOf returns the revision that a message is judged by: the one that its
// initialize wants, its envelope's, its session's, its header's.
func (c *conversation) revisionOf(l *record.Line, m map[string]any) string {
	params, _ := m["params"].(map[string]any)
	meta, _ := params["_meta"].(map[string]any)
	envelope, modern := meta[metaVersion].(string)
	var wanted string
	if m["method"] == "initialize" {
		wanted, _ = params["protocolVersion"].(string)
	}
	for _, revision := range []string{wanted, envelope, c.revisions[l.Session], l.Version} {
		if c.judge.schemas[revision] != nil {
			return revision
		}
	}
	// Versions that nobody knows are asked for on purpose, and refused.
	if modern || l.Version > firstModern {
		return firstModern
	}
	return firstStreaming
}

func (c *conversation) violation(revision, what, method, reason string, raw []byte) {
	c.violations = append(c.violations, Violation{Revision: revision, What: what, Method: method, Reason: reason, Message: shortened(raw)})
}
