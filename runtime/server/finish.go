package server

import (
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
	var has struct{ kind, meta, info, ttl, scope bool }
	complete := true
	whole := strictjson.Each(o.Result, func(name, value []byte) bool {
		switch string(name) {
		case "resultType":
			has.kind = true
			complete = string(value) == `"complete"`
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
	if !whole {
		s.opt.Logger.Error("a result is no object", "method", x.Msg.Method)
		return dispatch.Fail(internal())
	}
	// Room for all that may be added; the brace goes and comes back.
	end := len(o.Result) - 1
	for o.Result[end] != '}' {
		end--
	}
	b := make([]byte, 0, end+len(s.identity.meta)+128)
	b = append(b, o.Result[:end]...)
	bare := strictjson.IsObject(b) && onlyBrace(b)
	add := func(member string) {
		if !bare {
			b = append(b, ',')
		}
		bare = false
		b = append(b, member...)
	}
	if !has.kind && !broken.Rule("W3.1") {
		add(`"resultType":"complete"`)
	}
	if m, _ := p.Method(x.Msg.Method); m.Cached && p.CachingHints && complete && !broken.Rule("W34.1") {
		hint := s.hint(x)
		if !has.ttl {
			add(`"ttlMs":`)
			b = strconv.AppendInt(b, hint.TTL.Milliseconds(), 10)
		}
		if !has.scope {
			add(`"cacheScope":`)
			b = strictjson.Quote(b, string(hint.Scope))
		}
	}
	if !has.meta {
		add(`"_meta":`)
		b = append(b, s.identity.meta...)
	}
	b = append(b, '}')
	if has.meta && !has.info {
		with, err := strictjson.Splice(b, strictjson.Set(s.identity.titled, "_meta", mcp.MetaServerInfo))
		if err == nil { // a _meta that is no object stays what it is
			b = with
		}
	}
	return dispatch.Result(b)
}

func onlyBrace(b []byte) bool {
	for _, c := range b[1:] {
		switch c {
		case ' ', '\t', '\r', '\n':
		default:
			return false
		}
	}
	return true
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
