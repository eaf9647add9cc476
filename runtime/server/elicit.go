package server

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/schema"
)

// Action is what a user did with an elicitation (W30.6).
type Action string

// The actions.
const (
	Accept  Action = "accept"
	Decline Action = "decline"
	Cancel  Action = "cancel"
)

// ElicitParams is a form for the user. It must not ask for secrets (W30.5).
type ElicitParams struct {
	Message string
	// Schema is a flat object of strings, numbers, booleans and choices
	// (W30.4), by hand or from schema.For.
	Schema json.RawMessage
}

// ElicitResult is what became of an elicitation.
type ElicitResult struct {
	Action Action `json:"action"`
	// Content is the raw object of an accepted form, which fits its schema.
	Content json.RawMessage `json:"content,omitempty"`
}

// Accepted reports whether the user sent the form, or agreed to open the URL.
func (r ElicitResult) Accepted() bool { return r.Action == Accept }

// Into reads the content of an accepted form.
func (r ElicitResult) Into(v any) error {
	if r.Content == nil {
		return errors.New("the form has no content")
	}
	return decode(r.Content, v)
}

// Elicit shows the user a form and returns what became of it. In revisions
// without reverse calls the error is a *NeedInput until the client has
// answered: return it. Other errors: *CapabilityError, *ClientError, a form
// that is not legal, an answer that does not fit.
func (c *Context) Elicit(key string, p ElicitParams) (ElicitResult, error) {
	raw, err := c.input(c.Form(key, p))
	if err != nil {
		return ElicitResult{}, err
	}
	var r ElicitResult
	return r, decode(raw, &r)
}

// ElicitAs is Elicit with the schema and the content of a type; ok is false
// unless the user accepted.
func ElicitAs[T any](c *Context, key, message string) (answer T, ok bool, err error) {
	raw, err := schema.For[T]()
	if err != nil {
		return answer, false, err
	}
	r, err := c.Elicit(key, ElicitParams{Message: message, Schema: raw})
	if err != nil || !r.Accepted() {
		return answer, false, err
	}
	return answer, true, r.Into(&answer)
}

type formParams struct {
	Mode            string          `json:"mode,omitempty"`
	Message         string          `json:"message"`
	RequestedSchema json.RawMessage `json:"requestedSchema"`
}

// Form is an elicitation for Need or InputRequired.
func (c *Context) Form(key string, p ElicitParams) Input {
	in := Input{Key: key, Method: mcp.MethodElicit, needs: []mcp.Capability{capForm}}
	compiled, err := c.s.shapes.of(c.x.Profile(), p.Schema)
	if err != nil {
		in.err = err
		return in
	}
	form := compiled.Raw()
	params := formParams{Message: p.Message, RequestedSchema: form}
	if c.x.Profile().ElicitationModes {
		params.Mode = "form"
	}
	in.Params = params
	in.check = func(answer json.RawMessage) error {
		r, err := elicitAnswer(answer)
		if err != nil || r.Action != Accept {
			return err
		}
		if !isObject(r.Content) {
			return errors.New("an accepted form has content")
		}
		return compiled.Validate(r.Content) // W30.8
	}
	return in
}

func elicitAnswer(answer json.RawMessage) (r ElicitResult, err error) {
	if !isObject(answer) || decode(answer, &r) != nil {
		return r, errors.New("it is no answer to an elicitation")
	}
	switch r.Action {
	case Accept, Decline, Cancel:
		return r, nil
	}
	return r, errors.New("the action must be accept, decline or cancel")
}

type urlParams struct {
	Mode          string `json:"mode"`
	Message       string `json:"message"`
	URL           string `json:"url"`
	ElicitationID string `json:"elicitationId,omitempty"`
}

// ElicitURL asks the user to open a URL, for what must not pass through the
// client (W30.5). Accepted means that the user agreed, not that they are done
// (W30.16). id names it where the revision has ids, for ElicitationComplete;
// elsewhere it is empty. Errors are as with Elicit.
func (c *Context) ElicitURL(key, message, address string) (r ElicitResult, id string, err error) {
	in, id := c.URL(key, message, address)
	raw, err := c.input(in)
	if err != nil {
		return ElicitResult{}, id, err
	}
	return r, id, decode(raw, &r)
}

// URL is an elicitation by URL for Need or InputRequired, with its id.
func (c *Context) URL(key, message, address string) (Input, string) {
	in := Input{Key: key, Method: mcp.MethodElicit, needs: []mcp.Capability{capURL}}
	if u, err := url.Parse(address); err != nil || u.Scheme == "" || u.Host == "" {
		in.err = errors.New("an elicitation needs an absolute URL") // W30.3
		return in, ""
	}
	params := urlParams{Mode: "url", Message: message, URL: address}
	if c.x.Profile().ElicitationIDs {
		params.ElicitationID = rand.Text()
	}
	in.Params = params
	in.check = func(answer json.RawMessage) error { _, err := elicitAnswer(answer); return err }
	return in, params.ElicitationID
}

// ElicitationComplete tells the client that got an elicitation by URL that the
// user is done (W30.13). It does nothing in revisions without ids. On a request
// that has ended use it on a detached Context.
func (c *Context) ElicitationComplete(id string) error {
	if !c.x.Profile().ElicitationIDs || id == "" {
		return nil
	}
	return c.Notify(mcp.NotifyElicitComplete, map[string]string{"elicitationId": id})
}

// URLElicitation is one URL that the user has to open first.
type URLElicitation struct{ Key, Message, URL, ID string }

// URLRequired is an error that says that a request cannot be served until the
// user has opened URLs. It becomes -32042 where the revision has that (W30.14),
// a round of input on 2026-07-28, and a tool error elsewhere.
type URLRequired struct{ Elicitations []URLElicitation }

// Error implements error.
func (e *URLRequired) Error() string { return "the user has to open a URL first" }

func (e *URLRequired) rpc() *jsonrpc.Error {
	type data struct {
		Elicitations []urlParams `json:"elicitations"`
	}
	var d data
	for _, u := range e.Elicitations {
		if u.ID == "" {
			u.ID = rand.Text()
		}
		d.Elicitations = append(d.Elicitations, urlParams{"url", u.Message, u.URL, u.ID})
	}
	raw, err := encode(d)
	if err != nil {
		return internal()
	}
	return &jsonrpc.Error{Code: mcp.CodeURLElicitation, Message: e.Error(), Data: raw}
}

// inputs asks for the same by a round of input; what was agreed to already is
// not asked again.
func (e *URLRequired) inputs(c *Context) []Input {
	var out []Input
	for i, u := range e.Elicitations {
		if u.Key == "" {
			u.Key = fmt.Sprintf("url-%d", i+1)
		}
		in, _ := c.URL(u.Key, u.Message, u.URL)
		out = append(out, in)
	}
	return out
}
