package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/fairlead-dev/fairlead/runtime/internal/fence"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// Input is one thing that a handler wants from the client, under a key that it
// chose. Keys are the handler's own and name the same question in every round;
// any text will do.
type Input struct {
	Key string
	// Method is elicitation/create, sampling/createMessage or roots/list.
	Method string
	// Params encode to the parameters of that method; nil is none.
	Params any
	// check holds an answer against what was asked.
	check func(answer json.RawMessage) error
	needs []mcp.Capability
	// err is why the question cannot be asked at all.
	err error
}

// InputRequired is the outcome of a handler that wants input first, said in
// one go; it runs again when the answers are there. Without Requests it only
// wants to be called again (W32.18).
//
// Handlers that prefer to ask where they need an answer call [Context.Elicit]
// and its kin instead, and [Context.Need] to ask several at once.
type InputRequired struct{ Requests []Input }

func (*InputRequired) toolOutcome()     {}
func (*InputRequired) promptOutcome()   {}
func (*InputRequired) resourceOutcome() {}

// NeedInput is the error with which a question ends a run of a handler in
// revisions without reverse calls: the handler returns it, and runs again once
// the client has answered. It may be wrapped.
type NeedInput struct{ inputs []Input }

// Error implements error.
func (e *NeedInput) Error() string {
	return fmt.Sprintf("%d inputs of the client are needed", len(e.inputs))
}

// errNoInput: W32.3, no method but three may ask.
var errNoInput = errors.New("input of the client cannot be had on this method")

// inputs is what the client has answered to this request, in this round and in
// those before.
type inputs struct {
	answers map[string]json.RawMessage
	round   int
	state   json.RawMessage
}

// Answer gives the client's raw answer to a key, if there is one yet. It has
// not been checked; Elicit, Sample and Roots check theirs.
func (c *Context) Answer(key string) (json.RawMessage, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	raw, ok := c.inputs.answers[key]
	return raw, ok
}

func (c *Context) keep(key string, answer json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inputs.answers == nil {
		c.inputs.answers = map[string]json.RawMessage{}
	}
	c.inputs.answers[key] = answer
}

// Forget drops the answer to a key, so that it is asked again: a handler that
// has the user try once more uses it before it asks under the same key. The
// keys that it does not forget keep their answers through all rounds.
func (c *Context) Forget(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.inputs.answers, key)
}

// State reads what SetState kept in an earlier round into a value. It reports
// false when there is none.
func (c *Context) State(into any) (bool, error) {
	c.mu.Lock()
	raw := c.inputs.state
	c.mu.Unlock()
	if raw == nil {
		return false, nil
	}
	return true, decode(raw, into)
}

// SetState keeps a value for the next round of this request: sealed, bound to
// the principal, the method and the parameters, and good for Options.InputTTL.
// Nobody can read or change it on the way (W32.7). The error is one of
// encoding, or a value that is too large.
func (c *Context) SetState(v any) error {
	raw, err := encode(v)
	if err != nil {
		return err
	}
	if len(raw) > c.s.opt.MaxState {
		return fmt.Errorf("state of %d bytes, %d are allowed", len(raw), c.s.opt.MaxState)
	}
	c.mu.Lock()
	c.inputs.state = raw
	c.mu.Unlock()
	return nil
}

// input gets one answer: from earlier rounds, by asking and waiting, or, where
// neither can be, by a *NeedInput for the handler to return.
func (c *Context) input(in Input) (json.RawMessage, error) {
	if in.err != nil {
		return nil, in.err
	}
	if raw, ok := c.Answer(in.Key); ok {
		return c.verified(in, raw)
	}
	if err := c.mayAsk(in); err != nil {
		return nil, err
	}
	if c.ask == nil {
		return nil, &NeedInput{inputs: []Input{in}}
	}
	raw, err := c.waitFor(c.Context, in)
	if err != nil {
		return nil, err
	}
	return c.verified(in, raw)
}

// Need asks for several inputs at once. It returns nil when all answers are
// there, to be read with Elicit, Sample, Roots or Answer under their keys;
// otherwise an error for the handler to return.
func (c *Context) Need(all ...Input) error {
	var open []Input
	for _, in := range all {
		if in.err != nil {
			return in.err
		}
		if _, ok := c.Answer(in.Key); ok {
			continue
		}
		if err := c.mayAsk(in); err != nil {
			return err
		}
		open = append(open, in)
	}
	if len(open) == 0 {
		return nil
	}
	if c.ask == nil {
		return &NeedInput{inputs: open}
	}
	return c.fulfil(open)
}

// fulfil asks a client that can be asked, all at once, and waits. The first
// failure ends the other questions.
func (c *Context) fulfil(open []Input) error {
	ctx, cancel := context.WithCancelCause(c.Context)
	defer cancel(nil)
	var wg sync.WaitGroup
	for _, in := range open {
		wg.Go(func() {
			// Params say what they are themselves (json.Marshaler).
			fine := fence.Call(c.s.panicked, func() {
				if _, err := c.waitFor(ctx, in); err != nil {
					cancel(err)
				}
			})
			if !fine {
				cancel(internal())
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// waitFor asks for one input on the connection and keeps the answer.
func (c *Context) waitFor(ctx context.Context, in Input) (json.RawMessage, error) {
	params := []byte(`{}`)
	if in.Params != nil {
		var err error
		if params, err = encode(in.Params); err != nil {
			return nil, err
		}
	}
	raw, err := c.ask(ctx, in.Key, in.Method, params)
	if err != nil {
		return nil, err
	}
	c.keep(in.Key, raw)
	return raw, nil
}

// mayAsk holds a question against the method and the client's capabilities
// (W32.3, W32.6).
func (c *Context) mayAsk(in Input) error {
	if m, _ := c.x.Profile().Method(c.x.Msg.Method); c.ask == nil && !m.InputRequired || c.detached && c.ask == nil {
		return errNoInput
	}
	needs := in.needs
	if needs == nil {
		needs = []mcp.Capability{capabilityFor(in.Method)}
	}
	return c.lacks(needs)
}

// lacks returns the first capability that the client did not declare as an
// error, nil when it declared all.
func (c *Context) lacks(needs []mcp.Capability) error {
	for _, capability := range needs {
		if !c.declared(capability) {
			return &CapabilityError{Capability: capability}
		}
	}
	return nil
}

// MayAsk reports whether the client of this request can be asked: its
// capabilities, the method and the question itself allow it. A handler that can
// do without leaves out what may not be asked (W32.6).
func (c *Context) MayAsk(in Input) bool { return in.err == nil && c.mayAsk(in) == nil }

// declared is Supports, with the modes of elicitation that an empty
// declaration stands for (W30.1).
func (c *Context) declared(capability mcp.Capability) bool {
	switch capability {
	case capForm, capURL:
		mode := capability[len(mcp.CapElicitation)+1:]
		if !c.x.Profile().ElicitationModes {
			return capability == capForm && c.Supports(mcp.CapElicitation)
		}
		return mcp.ElicitationMode(c.x.ClientCapabilities(), string(mode))
	}
	return c.Supports(capability)
}

const (
	capForm mcp.Capability = mcp.CapElicitation + ".form"
	capURL  mcp.Capability = mcp.CapElicitation + ".url"
)

// verified holds an answer against its question. One that does not fit is
// forgotten: the handler may ask again, under the same key.
func (c *Context) verified(in Input, answer json.RawMessage) (json.RawMessage, error) {
	if in.check == nil {
		return answer, nil
	}
	if err := in.check(answer); err != nil {
		c.Forget(in.Key)
		return nil, &AnswerError{Key: in.Key, Err: err}
	}
	return answer, nil
}

// AnswerError is an answer of the client that does not fit its question
// (W32.11). Returned by a handler it becomes -32602; a handler may also ask
// again.
type AnswerError struct {
	Key string
	Err error
}

// Error implements error.
func (e *AnswerError) Error() string {
	return fmt.Sprintf("the answer to %.100q is not valid: %s", e.Key, oneLine(e.Err))
}

// Unwrap gives what does not fit.
func (e *AnswerError) Unwrap() error { return e.Err }

func (e *AnswerError) rpc() *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: e.Error(), Cause: e}
}

// badAnswer is the error that refuses an answer.
func badAnswer(key string, err error) *jsonrpc.Error { return (&AnswerError{Key: key, Err: err}).rpc() }
