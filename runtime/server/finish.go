package server

import (
	"bytes"
	"strconv"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/internal/broken"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Scope says who a cached result may be served to (W34.1).
type Scope string

// The scopes. Public results may be shared between callers (W34.7).
const (
	Private Scope = "private"
	Public  Scope = "public"
)

// Hint is what 2026-07-28 says about keeping a result.
type Hint struct {
	TTL   time.Duration
	Scope Scope
}

// Cache are the hints on results; the zero value says private and stale at
// once.
type Cache struct {
	Hint
	// Methods overrides the hint for single methods, such as tools/list.
	Methods map[string]Hint
}

// finish completes a result with what every result of the revision carries:
// resultType (W3.1), the server's identity (W3.4), caching hints (W34.1). What
// is there already stays.
func (s *Server) finish(x *dispatch.Exchange, o dispatch.Outcome) dispatch.Outcome {
	p := x.Profile()
	if o.Err != nil {
		return dispatch.Fail(strict(p, o.Err))
	}
	if !p.ResultType {
		return o
	}
	has, whole := envelopeOf(o.Result)
	if !whole {
		s.opt.Logger.Error("a result is no object", "method", x.Msg.Method)
		return dispatch.Fail(internal())
	}
	m := members{b: make([]byte, 0, len(o.Result)+len(s.identity.meta)+128)}
	m.open(o.Result)
	if !has.kind && !broken.Rule("W3.1") {
		m.add(`"resultType":"complete"`)
	}
	if method, _ := p.Method(x.Msg.Method); method.Cached && p.CachingHints && has.complete && !broken.Rule("W34.1") {
		hint := s.hint(x)
		if !has.ttl {
			m.add(`"ttlMs":`)
			m.b = strconv.AppendInt(m.b, hint.TTL.Milliseconds(), 10)
		}
		if !has.scope {
			m.add(`"cacheScope":`)
			m.b = strictjson.Quote(m.b, string(hint.Scope))
		}
	}
	if !has.meta {
		m.add(`"_meta":`)
		m.b = append(m.b, s.identity.meta...)
	}
	b := append(m.b, '}')
	if has.meta && !has.info {
		with, err := strictjson.Splice(b, strictjson.Set(s.identity.titled, "_meta", mcp.MetaServerInfo))
		if err == nil { // a _meta that is no object stays what it is
			b = with
		}
	}
	return dispatch.Result(b)
}

// envelope is what a result has already of what finish adds.
type envelope struct{ kind, complete, meta, info, ttl, scope bool }

// envelopeOf reads it; whole is false for what is no object.
func envelopeOf(result []byte) (has envelope, whole bool) {
	has.complete = true
	if bare(result) {
		return has, true
	}
	whole = strictjson.Each(result, func(name, value []byte) bool {
		switch string(name) {
		case "resultType":
			has.kind = true
			has.complete = string(value) == `"complete"`
		case "_meta":
			has.meta = true
			_, has.info = strictjson.Get(value, mcp.MetaServerInfo)
		case "ttlMs":
			has.ttl = true
		case "cacheScope":
			has.scope = true
		}
		return true
	})
	return has, whole
}

// bare reports whether a result has, at any depth, no member of that kind: most
// have none, and looking for bytes is cheaper than reading.
func bare(result []byte) bool {
	if len(result) < 2 || result[0] != '{' || result[len(result)-1] != '}' {
		return false
	}
	for _, name := range [...]string{`"_meta"`, `"resultType"`, `"ttlMs"`, `"cacheScope"`, `\u`} {
		if bytes.Contains(result, []byte(name)) {
			return false
		}
	}
	return true
}

// members adds members to an object, at its end.
type members struct {
	b     []byte
	empty bool
}

// open takes an object without its last brace.
func (m *members) open(object []byte) {
	object = bytes.TrimRight(object, " \t\r\n")
	m.b = append(m.b, object[:len(object)-1]...)
	m.empty = len(bytes.TrimSpace(m.b)) == 1
}

// add adds a member, or its name, for the value to follow.
func (m *members) add(member string) {
	if !m.empty {
		m.b = append(m.b, ',')
	}
	m.empty = false
	m.b = append(m.b, member...)
}

// hint is what may be said of this answer. One that rests on input is nobody
// else's and no later request's (W32.16).
func (s *Server) hint(x *dispatch.Exchange) Hint {
	hint, ok := s.opt.Cache.Methods[x.Msg.Method]
	if !ok {
		hint = s.opt.Cache.Hint
	}
	if onInput(x) {
		return Hint{Scope: Private}
	}
	if hint.TTL < 0 {
		hint.TTL = 0
	}
	if hint.Scope != Public {
		hint.Scope = Private
	}
	return hint
}

// onInput reports whether a request carries input of the client.
func onInput(x *dispatch.Exchange) bool {
	if m, _ := x.Profile().Method(x.Msg.Method); !m.InputRequired {
		return false
	}
	_, answers := strictjson.Get(x.Msg.Params, "inputResponses")
	_, state := strictjson.Get(x.Msg.Params, "requestState")
	return answers || state
}
