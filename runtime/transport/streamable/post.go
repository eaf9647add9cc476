package streamable

import (
	"errors"
	"net/http"

	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/internal/broken"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/runtime/transport/internal/edge"
	"github.com/fairlead-dev/fairlead/runtime/transport/internal/envelope"
)

// posted is a request with what a POST brings: a body that is read as one
// message. Others bring nothing.
type posted struct {
	request
	body    edge.Body
	accepts accepts
	msg     *jsonrpc.Message
}

// post serves one POST in the order of W16.
func (p *posted) post() *refusal {
	if denial := edge.MediaType(p.r.Header); denial != nil {
		return denied(denial)
	}
	p.accepts = accept(p.r.Header)
	if !p.accepts.json && !p.accepts.stream {
		return invalid(http.StatusNotAcceptable, hook.RejectAccept, "accept application/json or text/event-stream").closing()
	}
	if denial := p.read(); denial != nil {
		return denied(denial)
	}
	// Whoever starts a request keeps the body until its end.
	kept := false
	defer func() {
		if !kept {
			p.body.Release()
		}
	}()
	if jsonrpc.IsBatch(p.body.Data) {
		return p.batch()
	}
	msg, err := jsonrpc.Parse(p.body.Data, strictjson.FromClient)
	if err != nil {
		return p.unreadable(err)
	}
	if p.msg, err = envelope.Clean(msg); err != nil {
		return p.unreadable(err)
	}
	var refusal *refusal
	kept, refusal = p.era()
	return refusal
}

// era decides once which era a message belongs to: the body decides, the
// header only confirms (W16.2 as amended by P34 and R3). kept tells that a
// request that has been started keeps the body.
func (p *posted) era() (kept bool, refusal *refusal) {
	header := p.field(headerVersion)
	claimed, enveloped := strictjson.Get(p.msg.Meta, mcp.MetaProtocolVersion)
	switch {
	case p.msg.Kind == jsonrpc.KindResponse:
		if mcp.ClaimsModern(header) && !broken.Rule("W1.13") {
			return false, invalid(http.StatusBadRequest, hook.RejectMessage, "clients of this revision send no responses").about(p.msg.ID)
		}
		return false, p.inbound()
	case p.msg.Kind == jsonrpc.KindNotification:
		if enveloped || mcp.ClaimsModern(header) {
			p.notice(header)
			return false, nil
		}
		return false, p.inbound()
	case enveloped:
		return p.modern(header, claimed)
	case p.msg.Method == mcp.MethodInitialize && !(broken.Rule("R3") && mcp.ClaimsModern(header)):
		return p.initialize()
	case mcp.ClaimsModern(header) && len(p.settings.Revisions.Modern()) > 0:
		return false, missingEnvelope(p.msg.ID)
	}
	return p.legacyRequest()
}

// unreadable refuses a body that is no message. The id is the request's if it
// could be read, else null or absent as the revision has it (W1.8, P34).
func (q *request) unreadable(err error) *refusal {
	var parse *jsonrpc.ParseError
	if !errors.As(err, &parse) {
		parse = &jsonrpc.ParseError{Code: jsonrpc.CodeInternal, Message: "internal error"}
	}
	reason := hook.RejectMessage
	if parse.Code == jsonrpc.CodeParse {
		reason = hook.RejectJSON
	}
	f := refuse(http.StatusBadRequest, reason, parse.Code, parse.Message).about(parse.ID)
	if parse.ID.IsZero() && q.assumed().NullErrorID {
		f.id = jsonrpc.NullID()
	}
	return f
}

// assumed is the profile of a message that says nothing itself: the session's,
// else the header's, else the assumed one (W11.2).
func (q *request) assumed() mcp.Profile {
	if l, ok := q.lookup(); ok {
		return l.Profile()
	}
	header := q.field(headerVersion)
	if header == "" {
		header = mcp.AssumedRevision
	}
	p, _ := mcp.Lookup(header)
	return p
}
