package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/internal/pause"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// runner is one run of a handler: the encoded result, or what input it wants.
type runner func() (result []byte, need *InputRequired, err error)

// again is how long a handler rests that only wants to be called again.
const again = time.Second

// rounds runs a handler until it has an answer. Where the client can be asked,
// it is asked and the handler runs again; otherwise each round is a request of
// its own and this one ends with input_required (W32).
//
// failed turns an error of asking into what the handler's own error would have
// become; nil leaves it an error.
func (s *Server) rounds(c *Context, run runner, failed func(*Context, error) ([]byte, *InputRequired, error)) dispatch.Outcome {
	if c.ask == nil {
		if bad := c.resume(); bad != nil {
			return dispatch.Fail(bad)
		}
	}
	for round := 0; ; round++ {
		result, need, err := run()
		if err != nil {
			need, err = c.wanted(err)
		}
		switch {
		case err != nil:
			return dispatch.Fail(s.explain(c, err))
		case need == nil:
			return dispatch.Result(result)
		case c.ask == nil:
			return s.inputRequired(c, need)
		case round >= s.opt.MaxRounds:
			return dispatch.Fail(tooManyRounds())
		}
		if err := c.obtain(need); err != nil {
			if failed != nil {
				result, _, err = failed(c, err)
			}
			if err != nil {
				return dispatch.Fail(s.explain(c, err))
			}
			return dispatch.Result(result)
		}
	}
}

// incoming are the members of a request's parameters that may ask for input:
// raw, read in one pass, nil when absent or null.
type incoming struct{ name, arguments, responses, state []byte }

// readIncoming reads them; name is the member that says what is called.
func readIncoming(params []byte, name string) (in incoming) {
	strictjson.Each(params, func(member, value []byte) bool {
		var at *[]byte
		switch string(member) {
		case name:
			at = &in.name
		case "arguments":
			at = &in.arguments
		case "inputResponses":
			at = &in.responses
		case "requestState":
			at = &in.state
		default:
			return true
		}
		if !strictjson.IsNull(value) {
			*at = value
		}
		return true
	})
	return in
}

// wanted turns an error that asks for input into what is asked; others stay.
func (c *Context) wanted(err error) (*InputRequired, error) {
	var need *NeedInput
	if errors.As(err, &need) {
		return &InputRequired{Requests: need.inputs}, nil
	}
	var url *URLRequired
	if c.ask == nil && errors.As(err, &url) {
		return &InputRequired{Requests: url.inputs(c)}, nil
	}
	return nil, err
}

func tooManyRounds() *jsonrpc.Error {
	return jsonrpc.Errorf(jsonrpc.CodeInternal, "the request asked for input too many times").WithReason("rounds")
}

// obtain gets for a handler that said InputRequired what it wants.
func (c *Context) obtain(need *InputRequired) error {
	if len(need.Requests) > 0 {
		for _, in := range need.Requests {
			c.Forget(in.Key) // a key that is asked again is asked again
		}
		return c.Need(need.Requests...)
	}
	return pause.For(c, again)
}

// sealed is what a requestState carries: the answers of the rounds before, what
// this round asked, and the handler's own state. The digest binds it to the
// principal, the method and the parameters (W32.8).
type sealed struct {
	Digest  []byte                     `json:"d"`
	Made    moment                     `json:"m"`
	Round   int                        `json:"n"`
	Asked   []string                   `json:"q,omitempty"`
	Answers map[string]json.RawMessage `json:"a,omitempty"`
	State   json.RawMessage            `json:"s,omitempty"`
}

type inputRequiredResult struct {
	ResultType    string                  `json:"resultType"`
	InputRequests map[string]inputRequest `json:"inputRequests,omitempty"`
	RequestState  string                  `json:"requestState"`
}

type inputRequest struct {
	Method string `json:"method"`
	Params any    `json:"params,omitempty"`
}

// inputRequired ends a round (W32.4). Of what is asked, nothing may need a
// capability that the client did not declare on this request (W32.6).
func (s *Server) inputRequired(c *Context, need *InputRequired) dispatch.Outcome {
	c.mu.Lock()
	st := sealed{Digest: mcp.Digest(c.x.Principal(), c.x.Msg.Method, c.x.Msg.Params), Made: s.clock.now(), Round: c.inputs.round + 1, Answers: maps.Clone(c.inputs.answers), State: c.inputs.state}
	c.mu.Unlock()
	if st.Round > s.opt.MaxRounds {
		return dispatch.Fail(tooManyRounds())
	}
	out := inputRequiredResult{ResultType: "input_required", InputRequests: map[string]inputRequest{}}
	for _, in := range need.Requests {
		err := in.err
		if err == nil {
			err = c.mayAsk(in)
		}
		if _, twice := out.InputRequests[in.Key]; twice && err == nil {
			err = fmt.Errorf("input %q is asked twice", in.Key)
		}
		if err != nil {
			return dispatch.Fail(s.explain(c, err))
		}
		out.InputRequests[in.Key] = inputRequest{in.Method, in.Params}
		st.Asked = append(st.Asked, in.Key)
		delete(st.Answers, in.Key)
	}
	plain, err := encode(st)
	if err != nil {
		return s.encoded(nil, err)
	}
	if len(plain) > s.opt.MaxState {
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "the answers so far are more than this server keeps").WithReason("too_large"))
	}
	if out.RequestState, err = s.keys.SealLong(seal.PurposeRequestState, plain, s.longest()); err != nil {
		return s.encoded(nil, err)
	}
	return s.encoded(encode(out))
}

// longest bounds a sealed state: base64 and the seal on top of MaxState.
func (s *Server) longest() int { return s.opt.MaxState*4/3 + 256 }

// resume reads requestState and inputResponses of a request. A state that was
// changed, that is somebody else's or for something else, and one that is too
// old are refused alike; asking anew would not be right (W32.7).
func (c *Context) resume() *jsonrpc.Error {
	var st *sealed
	if c.in.state != nil {
		var bad *jsonrpc.Error
		if st, bad = c.open(c.in.state); bad != nil {
			return bad
		}
		c.inputs.answers, c.inputs.state, c.inputs.round = st.Answers, st.State, st.Round
	}
	if c.in.responses == nil {
		return nil
	}
	var bad *jsonrpc.Error
	isObject := strictjson.Each(c.in.responses, func(name, value []byte) bool {
		key := string(name)
		if st != nil && !asked(st, key) {
			return true // W32.12
		}
		if !strictjson.IsObject(value) {
			bad = badAnswer(key, errors.New("it is no object"))
			return false
		}
		if c.inputs.answers == nil {
			c.inputs.answers = map[string]json.RawMessage{}
		}
		c.inputs.answers[key] = value
		return true
	})
	if bad == nil && !isObject {
		bad = jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "inputResponses must be an object")
	}
	return bad
}

func asked(st *sealed, key string) bool {
	for _, k := range st.Asked {
		if k == key {
			return true
		}
	}
	return false
}

func (c *Context) open(raw []byte) (*sealed, *jsonrpc.Error) {
	bad := jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "the requestState is not valid")
	token, ok := strictjson.String(raw)
	if !ok {
		return nil, bad
	}
	plain, err := c.s.keys.OpenLong(seal.PurposeRequestState, token, c.s.longest())
	if err != nil {
		return nil, bad
	}
	var st sealed
	if decode(plain, &st) != nil || !bytes.Equal(st.Digest, mcp.Digest(c.x.Principal(), c.x.Msg.Method, c.x.Msg.Params)) || c.s.clock.past(st.Made, c.s.opt.InputTTL) {
		return nil, bad
	}
	return &st, nil
}
