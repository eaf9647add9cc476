package proxy

import (
	"context"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/runtime/task"
)

// Bounds of a request whose workload asks back (B8.4).
const (
	maxRounds    = 10
	maxQuestions = 64
	roundWait    = 10 * time.Minute
	emptyFirst   = 250 * time.Millisecond
	emptyMost    = 5 * time.Second
	emptyTotal   = 2 * time.Minute
)

// Reasons of requests that are given up in the middle.
const (
	reasonRounds  = "rounds"
	reasonRefused = "input_refused"
)

// lmRounds makes a request and, as long as the workload answers that it needs
// input, asks the client for that and makes the request again (B8.3). With a
// task, what it asks and tells goes by way of that.
func (p *Proxy) lmRounds(ctx context.Context, x *dispatch.Exchange, s *lmSession, e *errand, h *task.Handle) dispatch.Outcome {
	base := e.request.Params
	asking := &asking{s: s, x: x, h: h, life: ctx}
	waited := time.Duration(0)
	for rounds, empty := 0, 0; ; {
		answer, err := e.run(ctx)
		switch {
		case err != nil:
			return dispatch.Fail(failed(ctx, err))
		case answer.Err != nil:
			return p.lmFailed(x, answer.Err)
		}
		kind, ok := kindOf(answer.Result)
		switch {
		case !ok:
			return badResponse()
		case kind == kindComplete:
			asking.completed()
			return p.lmResult(ctx, x, s, e, answer.Result)
		case kind == kindTask && s.tasks && x.Msg.Method == mcp.MethodToolsCall:
			return p.lmFollow(ctx, asking, e, answer.Result)
		case kind != kindInput:
			return unknownKind()
		}
		in, ok := readInput(e.request.Method, answer.Result)
		if !ok {
			return badResponse()
		}
		if len(in.questions) == 0 {
			d := min(emptyFirst<<min(empty, 10), emptyMost)
			empty++
			if waited += d; waited > emptyTotal {
				return dispatch.Fail(internal("the workload did not come to an end", reasonRounds))
			}
			if pause(ctx, d) != nil {
				return dispatch.Fail(dispatch.Explain(context.Cause(ctx)))
			}
		} else if rounds++; rounds > maxRounds {
			return dispatch.Fail(internal("the workload asked too many times", reasonRounds))
		}
		answers, over := asking.round(ctx, in.questions)
		if over != nil {
			return *over
		}
		if e.request.Params, err = in.retry(base, answers); err != nil {
			return badResponse()
		}
	}
}

// input is what a workload wants before it goes on.
type input struct {
	questions []question
	state     []byte // raw, nil when there is none
}

// question is one entry of inputRequests.
type question struct {
	key, method string
	params      []byte
}

// readInput reads an InputRequiredResult; ok is false when it is none that may
// be given to this method (W32.3, W32.4).
func readInput(method string, raw []byte) (in input, ok bool) {
	profile, _ := mcp.Lookup(mcp.Modern()[0])
	if m, known := profile.Method(method); !known || !m.InputRequired {
		return in, false
	}
	requests, asks := strictjson.Get(raw, "inputRequests")
	if state, has := strictjson.Get(raw, "requestState"); has && !strictjson.IsNull(state) {
		in.state = state
	}
	if asks && !strictjson.IsNull(requests) {
		fits := true
		ok = strictjson.Each(requests, func(key, value []byte) bool {
			var q question
			q, fits = readQuestion(key, value)
			in.questions = append(in.questions, q)
			return fits && len(in.questions) <= maxQuestions
		})
		return in, ok && fits && len(in.questions) <= maxQuestions && (len(in.questions) > 0 || in.state != nil)
	}
	return in, in.state != nil
}

// readQuestion reads one entry. Its params are an object, or nil: null means
// that there are none (R7).
func readQuestion(key, value []byte) (q question, ok bool) {
	name, _ := strictjson.Get(value, "method")
	q.key = string(key)
	q.method, _ = strictjson.String(name)
	params, has := strictjson.Get(value, "params")
	if !has || strictjson.IsNull(params) {
		return q, true
	}
	q.params = params
	return q, strictjson.IsObject(params)
}

// retry is the same request again, with the answers of this round and the state
// as it came (W32.14, W32.15).
func (in *input) retry(base, answers []byte) ([]byte, error) {
	var edits []strictjson.Edit
	if answers != nil {
		edits = append(edits, strictjson.Set(answers, "inputResponses"))
	}
	if in.state != nil {
		edits = append(edits, strictjson.Set(in.state, "requestState"))
	}
	return strictjson.Splice(base, edits...)
}

// aborted ends a request because a question stays without an answer that the
// workload has a place for (B8.5).
func aborted(method, why string) *dispatch.Outcome {
	if method == mcp.MethodToolsCall {
		o := toolFailed(why)
		return &o
	}
	o := dispatch.Fail(internal(why, reasonRefused))
	return &o
}

// about names a kind of question for people.
func about(method string) string {
	switch method {
	case mcp.MethodCreateMessage:
		return "sampling"
	case mcp.MethodElicit:
		return "elicitation"
	case mcp.MethodRootsList:
		return "roots"
	}
	return "an unknown kind of input"
}

// unanswerable reports whether an error of a reverse call says that the client
// could not even be asked, and not that it was and refused (B8.6).
func unanswerable(e *jsonrpc.Error) bool {
	switch e.Reason() {
	case mcp.ReasonNotInRevision, mcp.ReasonNoCapability, mcp.ReasonNoChannel:
		return true
	}
	return false
}

// elicited reports whether the answer to an elicitation is an acceptance.
func elicited(result []byte) bool {
	action, _ := strictjson.Get(result, "action")
	return strings.TrimSpace(string(action)) == `"accept"`
}
