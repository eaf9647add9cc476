package proxy

import (
	"bytes"
	"context"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/proxy/park"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// reasonLost: the exchange that a state belongs to cannot be gone on with
// (B7.17).
const reasonLost = "exchange_lost"

// mlMayAsk reports whether the client can be asked something during a request,
// brings what looks like answers, or may be answered with a task.
func (p *Proxy) mlMayAsk(x *dispatch.Exchange) bool {
	m, _ := x.Profile().Method(x.Msg.Method)
	return m.InputRequired && (p.keyOf(x).Capabilities != "" || p.promotes(x) ||
		bytes.Contains(x.Msg.Params, []byte(`requestState`)) || bytes.Contains(x.Msg.Params, []byte(`inputResponses`)))
}

// mlAsk serves a request during which the workload may ask for something (B7):
// a new one, or one that brings answers.
func (p *Proxy) mlAsk(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
	params := x.Msg.Params
	text, again, bad := park.ReadState(params)
	if bad != nil {
		return dispatch.Fail(bad)
	}
	answers, bad := park.ReadAnswers(params)
	if bad != nil {
		return dispatch.Fail(bad)
	}
	name := mcp.Digest(x.Principal(), x.Msg.Method, params)
	if !again {
		return p.mlFresh(ctx, x, name, answers, 0)
	}
	to, bad := p.parking.parked.Resume(text, name, answers, mayAsk(x.ClientCapabilities()))
	switch {
	case bad != nil:
		return dispatch.Fail(bad)
	case to.Claim != nil:
		f := to.Claim.Exchange().Value().(*flight)
		f.bind(x)
		p.raise(ctx, x, f.lease)
		turn, err := p.await(ctx, f, x, to.Claim)
		return p.turned(ctx, x, f, name, 0, turn, err)
	case to.Round > 0:
		return p.mlVisited(ctx, x, name, answers, to.Round)
	}
	// Another pod has it, or an earlier life of this one.
	return dispatch.Fail(internal("the exchange that this belongs to is gone; start again", reasonLost))
}

// mlFresh makes a new call. round counts how often the same request has been
// sent to a page first (B7.19).
func (p *Proxy) mlFresh(ctx context.Context, x *dispatch.Exchange, name []byte, answers park.Answers, round int) dispatch.Outcome {
	f, turn, err := p.fly(ctx, x, name, answers, round)
	if err == nil && f.unsent(x.Msg.Method, turn) && ctx.Err() == nil {
		f, turn, err = p.fly(ctx, x, name, answers, round)
	}
	if err != nil && f == nil {
		return dispatch.Fail(notOpened(ctx, err))
	}
	return p.turned(ctx, x, f, name, round, turn, err)
}

// turned is what a request is answered with.
func (p *Proxy) turned(ctx context.Context, x *dispatch.Exchange, f *flight, name []byte, round int, turn park.Turn, err error) dispatch.Outcome {
	switch {
	case err != nil:
		return dispatch.Fail(failed(ctx, err))
	case turn.Err != nil:
		return dispatch.Fail(turn.Err)
	case turn.Instead != nil:
		return dispatch.Result(turn.Instead)
	case turn.Final == nil:
		return dispatch.Result(p.inputRequired(f.lease, turn.Asked, turn.State))
	case turn.Final.Err != nil:
		return dispatch.Fail(failed(ctx, turn.Final.Err))
	case turn.Final.Answer.Err != nil:
		e := turn.Final.Answer.Err
		if e.Code == mcp.CodeURLElicitation {
			return p.mlVisit(x, f.lease, name, round, e)
		}
		return dispatch.Fail(toModern(x.Msg.Method, x.Msg.Params, e))
	}
	// Results are private and not to be kept in any case (B7.20, B11.13).
	return p.result(x.Profile(), x.Msg.Method, turn.Final.Answer.Result, p.modernEdits(x, p.serverInfo(f.lease.Init()))...)
}

// inputRequired builds the result that asks (W32.4).
func (p *Proxy) inputRequired(lease upstream.Lease, asked []park.Asked, state string) []byte {
	b := []byte(`{"resultType":"input_required","inputRequests":{`)
	for i, q := range asked {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(strictjson.Quote(b, q.Key), `:{"method":`...)
		b = strictjson.Quote(b, q.Method)
		// There always, though roots/list need not have any: go-sdk 1.8.0 fails
		// the call over a question without.
		params := q.Params
		if params == nil {
			params = []byte("{}")
		}
		b = append(append(append(b, `,"params":`...), strictjson.OneLine(params)...), '}')
	}
	b = strictjson.Quote(append(b, `},"requestState":`...), state)
	b = strictjson.Quote(append(b, `,"_meta":{`...), mcp.MetaServerInfo)
	b = append(append(b, ':'), strictjson.OneLine(p.serverInfo(lease.Init()))...)
	return append(b, "}}"...)
}

// mlInput reports whether a request may be answered with questions (W32.3).
func mlInput(x *dispatch.Exchange) bool {
	m, _ := x.Profile().Method(x.Msg.Method)
	return m.InputRequired
}

// maxVisits bounds how often one request is sent to a page (B7.19).
const maxVisits = 5

// mlVisit turns the error that asks for a visit to a page into questions
// (B7.19): the call is over, so nothing is kept; the retry makes it again.
func (p *Proxy) mlVisit(x *dispatch.Exchange, lease upstream.Lease, name []byte, round int, e *jsonrpc.Error) dispatch.Outcome {
	questions := visits(e)
	switch {
	case len(questions) == 0, round >= maxVisits, !mlInput(x):
		return dispatch.Fail(retired(e))
	case !mcp.ElicitationMode(x.ClientCapabilities(), "url"):
		return dispatch.Fail(lacking(mcp.CapElicitation + ".url"))
	}
	var asked []park.Asked
	for i, q := range questions {
		asked = append(asked, park.Asked{Key: visitKey(i), Question: q})
	}
	text, bad := p.parking.parked.Repeat(name, round+1)
	if bad != nil {
		return dispatch.Fail(bad)
	}
	p.parking.outings.begin(name, e)
	return dispatch.Result(p.inputRequired(lease, asked, text))
}

// visitKey is what the answer to the question of a visit comes under.
func visitKey(i int) string { return "elicitation-" + codeText(int64(i+1)) }

// maxPages bounds the pages that one error sends to.
const maxPages = 16

// visits are the questions that an error asks for (B7.19).
func visits(e *jsonrpc.Error) (out []park.Question) {
	elicitations, _ := strictjson.Get(e.Data, "elicitations")
	strictjson.Elements(elicitations, func(one []byte) bool {
		url, ok := strictjson.Get(one, "url")
		if _, isText := strictjson.String(url); !ok || !isText {
			return true
		}
		message, ok := strictjson.Get(one, "message")
		if _, isText := strictjson.String(message); !ok || !isText {
			message = strictjson.Quote(nil, e.Message)
		}
		params := append(append([]byte(`{"mode":"url","message":`), message...), `,"url":`...)
		out = append(out, park.Question{Method: mcp.MethodElicit, Params: append(append(params, url...), '}')})
		return len(out) < maxPages
	})
	return out
}

// declined is the answer to a call whose user would not go to a page.
func declined(method string) dispatch.Outcome {
	if method != mcp.MethodToolsCall {
		return dispatch.Fail(internal("declined by user", "declined"))
	}
	return dispatch.Result([]byte(`{"content":[{"type":"text","text":"declined by user"}],"isError":true,"resultType":"complete"}`))
}

// mlVisited makes the request again after the visits, unless the user would not
// go.
func (p *Proxy) mlVisited(ctx context.Context, x *dispatch.Exchange, name []byte, answers park.Answers, round int) dispatch.Outcome {
	for i := range maxPages {
		key := visitKey(i) // others were not asked for (B7.6)
		_, given := answers.Get(key)
		action, ok := answers.Action(key)
		switch {
		case !given:
		case !ok:
			return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "the answer to %.100q has not the form of one", key))
		case action != "accept":
			return declined(x.Msg.Method)
		}
	}
	p.parking.outings.wait(ctx, name, round)
	return p.mlFresh(ctx, x, name, park.Answers{}, round)
}
