package client

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Handlers serve what a server asks of its client and hear what it tells. They
// are the same for all revisions: with a session the server sends requests of
// its own, without one it answers a request with questions and the client
// repeats the request with what the handlers said (W32).
//
// Handlers may run concurrently. ctx ends when the server withdraws its
// question, with the request it belongs to, and with the connection. An error
// that is a *jsonrpc.Error is passed on as it is.
type Handlers struct {
	// Sample runs a model (W29). ErrRejected says that the user refused.
	Sample func(ctx context.Context, r SampleRequest) (SampleResult, error)
	// SampleTools declares that Sample takes tools, SampleContext that it
	// heeds includeContext.
	SampleTools, SampleContext bool
	// Elicit asks the user to fill in a form. Members with a default that an
	// accepted answer leaves out are filled in (SEP-1034).
	Elicit func(ctx context.Context, r ElicitRequest) (ElicitResult, error)
	// ElicitURL asks the user to visit an address; accept means consent only
	// (W30.16).
	ElicitURL func(ctx context.Context, r ElicitURLRequest) (Action, error)
	// Roots tells which directories the server may work on (W31).
	Roots func(ctx context.Context) ([]Root, error)
	// Request serves any other request of the server, raw. Nil refuses them.
	Request func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
	// Notification hears every notification but cancelled and those of the
	// handshake, after the hooks of the call it belongs to. It must be quick.
	Notification func(Notification)
}

// ErrRejected: the user does not want it. A sampling request is then refused
// with code -1 (W29.7).
var ErrRejected = errors.New("client: rejected by the user")

// Notification is what a server tells by itself.
type Notification struct {
	Method string
	// Params is the raw object, nil when there is none.
	Params json.RawMessage
	// Missed says that nothing came but that something may have: the
	// subscription was broken for a while.
	Missed bool
}

// any reports whether the server may ask for something.
func (h *Handlers) any() bool {
	return h.Sample != nil || h.Elicit != nil || h.ElicitURL != nil || h.Roots != nil || h.Request != nil || h.Notification != nil
}

// capabilities is what a revision is told (W29.1, W30.1, W31.1).
func (c *Client) capabilities(p mcp.Profile, extensions map[string]json.RawMessage) []byte {
	h := &c.opts.Handlers
	var o object
	if h.Roots != nil {
		if p.Handshake {
			o.set("roots", []byte(`{"listChanged":true}`))
		} else {
			o.set("roots", []byte("{}"))
		}
	}
	if h.Sample != nil {
		var s object
		if p.ElicitationModes { // the revisions that have the sub-capabilities too
			if h.SampleContext {
				s.set("context", []byte("{}"))
			}
			if h.SampleTools {
				s.set("tools", []byte("{}"))
			}
		}
		o.set("sampling", s.bytes())
	}
	if h.Elicit != nil || h.ElicitURL != nil && p.ElicitationModes {
		var e object
		if p.ElicitationModes {
			if h.Elicit != nil {
				e.set("form", []byte("{}"))
			}
			if h.ElicitURL != nil {
				e.set("url", []byte("{}"))
			}
		}
		if _, elicits := p.Reverse(mcp.MethodElicit); elicits || !p.Handshake {
			o.set("elicitation", e.bytes())
		}
	}
	if len(extensions) > 0 {
		var e object
		for _, id := range sorted(extensions) {
			e.set(id, extensions[id])
		}
		o.set("extensions", e.bytes())
	}
	return o.bytes()
}

// object builds a JSON object member by member.
type object struct{ b []byte }

func (o *object) set(name string, value []byte) {
	if o.b == nil {
		o.b = append(o.b, '{')
	} else {
		o.b = append(o.b, ',')
	}
	o.b = append(append(strictjson.Quote(o.b, name), ':'), value...)
}

func (o *object) text(name, value string) {
	if value != "" {
		o.set(name, strictjson.Quote(nil, value))
	}
}

func (o *object) bytes() []byte {
	if o.b == nil {
		return []byte("{}")
	}
	return append(o.b[:len(o.b):len(o.b)], '}')
}
