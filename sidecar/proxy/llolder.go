package proxy

import (
	"crypto/rand"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/proxy/older"
)

// A workload may answer initialize with another revision than its client's. The
// client is told its own, so what only the newer of the two has is said in the
// words of the older one (B4.11, B14). Where both speak the same everything
// passes.

// newer is the session's revision where the workload's is newer.
func (s *session) newer() (mcp.Profile, bool) {
	w, revision := s.speaks.Load(), s.s.Revision()
	if w == nil || w.Revision <= revision { // they are dates
		return mcp.Profile{}, false
	}
	return mcp.Lookup(revision)
}

// said is a result in the words of the session's revision.
func (s *session) said(method string, o dispatch.Outcome) dispatch.Outcome {
	p, converts := s.newer()
	if !converts || o.Err != nil {
		return o
	}
	out, ok := edited(o.Result, older.Result(p, method, o.Result, false))
	if !ok {
		return badResponse()
	}
	return dispatch.Result(out)
}

// asks are the params of a request of the workload as the client gets them; or
// the answer, where the client's revision has no words for it.
func (s *session) asks(m *jsonrpc.Message) (params, answer []byte, bad *jsonrpc.Error) {
	params = reverseParams(m)
	p, converts := s.newer()
	if !converts || !asksForMore(m.Method) {
		return params, nil, nil
	}
	if bad = dispatch.MayCall(p, s.s.ClientCapabilities(), m.Method, params); bad != nil {
		return nil, nil, bad
	}
	params, verdict := older.Ask(p, s.s.ClientCapabilities(), m.Method, params, strictjson.Quote(nil, rand.Text()))
	switch verdict {
	case older.Cancels:
		return nil, cancelled, nil
	case older.Undeclared:
		return nil, nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "the client's revision cannot be asked this").WithReason(mcp.ReasonNotInRevision)
	}
	return params, nil, nil
}

// answers is the client's answer as the workload's revision has it (B14.6).
func (s *session) answers(method string, o dispatch.Outcome) ([]byte, *jsonrpc.Error) {
	w := s.speaks.Load()
	if o.Err != nil || method != mcp.MethodCreateMessage || w == nil {
		return o.Result, o.Err
	}
	result, ok := older.Sampled(*w, o.Result)
	if !ok {
		s.p.lossy(LossyAnswer)
		return nil, internal("the client's answer cannot be said in this revision", mcp.ReasonNotInRevision)
	}
	return result, nil
}
