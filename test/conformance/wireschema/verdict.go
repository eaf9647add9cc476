package wireschema

import (
	"encoding/json"

	"github.com/fairlead-dev/fairlead/test/conformance/record"
)

// judgeCall checks a request or notification.
func (c *conversation) judgeCall(revision, what, method string, m map[string]any, l *record.Line) {
	s := c.judge.schemas[revision]
	def, exact := s.requests[method]
	if task, ok := c.judge.tasks.requests[method]; ok && !exact && revision >= firstModern {
		s, def, exact, what = c.judge.tasks, task, true, "task "+what
	}
	if !exact {
		def = "JSONRPCRequest"
		if _, asks := m["id"]; !asks {
			def = "JSONRPCNotification"
		}
	}
	c.judgeBy(s, []string{def}, Kind{revision, what, exact}, method, m, l)
}

// judgeAnswer checks a result or an error.
func (c *conversation) judgeAnswer(q *asked, m map[string]any, l *record.Line) {
	s := c.judge.schemas[q.revision]
	if fault, ok := m["error"].(map[string]any); ok {
		c.judgeError(s, q, fault, m, l)
		return
	}
	envelope := s.first("JSONRPCResultResponse", "JSONRPCResponse")
	if err := s.validate(envelope, m); err != nil {
		c.violation(q.revision, "result", q.method, err.Error(), l.Message)
		return
	}
	if def := c.judge.taskResult(q, m["result"]); def != "" {
		c.judgeBy(c.judge.tasks, []string{def}, Kind{q.revision, "task result", true}, q.method, m["result"], l)
		return
	}
	defs := s.resultOf(q, m["result"])
	exact := len(defs) > 0
	if !exact {
		defs = []string{"Result"}
	}
	c.judgeBy(s, defs, Kind{q.revision, "result", exact}, q.method, m["result"], l)
}

// taskResult returns the extension's definition of a result, if it is one of
// the extension.
func (j *Judge) taskResult(q *asked, result any) string {
	r, _ := result.(map[string]any)
	switch {
	case q.revision < firstModern:
		return ""
	case r["resultType"] == "task":
		return "CreateTaskResult"
	}
	return j.tasks.results[q.method]
}

// resultOf returns the definitions that the result of a request may have.
func (s *schema) resultOf(q *asked, result any) []string {
	r, _ := result.(map[string]any)
	switch r["resultType"] {
	case "input_required":
		return []string{"InputRequiredResult"}
	}
	if _, task := q.params["task"]; task && r["task"] != nil && s.names["CreateTaskResult"] {
		return []string{"CreateTaskResult"}
	}
	if def := s.results[q.method]; def != "" {
		return []string{def}
	}
	return nil
}

func (c *conversation) judgeError(s *schema, q *asked, fault, m map[string]any, l *record.Line) {
	def, exact := s.first("JSONRPCErrorResponse", "JSONRPCError"), true
	if code, ok := fault["code"].(json.Number); ok {
		if n, err := code.Int64(); err == nil && s.errors[n] != "" {
			def = s.errors[n]
		}
	}
	// A request that could not be read has no id to be answered with. JSON-RPC
	// wants null then, the schemas know no such answer: the rest is judged.
	if id, has := m["id"]; q.method == "" && (!has || id == nil) {
		exact = false
		rest := map[string]any{"id": json.Number("0")}
		for name, v := range m {
			if name != "id" {
				rest[name] = v
			}
		}
		m = rest
	}
	c.judgeBy(s, []string{def}, Kind{q.revision, "error", exact}, q.method, m, l)
}

// judgeBy checks a value against the definitions, of which one must fit.
func (c *conversation) judgeBy(s *schema, defs []string, kind Kind, method string, value any, l *record.Line) {
	c.judge.counts[kind]++
	var first error
	for _, def := range defs {
		err := s.validate(def, value)
		if err == nil {
			return
		}
		if first == nil {
			first = err
		}
	}
	c.violation(kind.Revision, kind.What, method, first.Error(), l.Message)
}
