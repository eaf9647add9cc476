package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Action is what a user did with a question (W30.6).
type Action string

// The actions.
const (
	Accept  Action = "accept"
	Decline Action = "decline"
	Cancel  Action = "cancel"
)

// ElicitRequest is a form to fill in. Fields are read-only.
type ElicitRequest struct {
	Message string
	// Schema is the raw requestedSchema: a flat object (W30.4).
	Schema json.RawMessage
	// Raw is the whole params object.
	Raw json.RawMessage
}

// Fields are the properties of the form in the server's order.
func (r ElicitRequest) Fields() (out []Field) {
	required := map[string]bool{}
	for _, name := range texts(r.Schema, "required") {
		required[name] = true
	}
	strictjson.Each(member(r.Schema, "properties"), func(name, value []byte) bool {
		out = append(out, Field{
			Name:        string(name),
			Type:        text(value, "type"),
			Title:       text(value, "title"),
			Description: text(value, "description"),
			Required:    required[string(name)],
			Default:     member(value, "default"),
			Schema:      value,
		})
		return true
	})
	return out
}

// Field is one property of a form.
type Field struct {
	Name, Type, Title, Description string
	Required                       bool
	// Default is the raw default value, nil without.
	Default json.RawMessage
	// Schema is the raw schema of the property.
	Schema json.RawMessage
}

// ElicitResult is what the user did. Content is anything that becomes a JSON
// object, for Accept only.
type ElicitResult struct {
	Action  Action
	Content any
}

// ElicitURLRequest is an address that the user should visit. Show the whole
// URL, and open it only with the user's consent.
type ElicitURLRequest struct {
	Message, URL string
	// ID is 2025-11-25's elicitationId; notifications/elicitation/complete
	// names it.
	ID string
	// Raw is the whole params object.
	Raw json.RawMessage
}

func (c *Client) elicit(ctx context.Context, params []byte) (json.RawMessage, error) {
	h := &c.opts.Handlers
	if h.Elicit == nil && h.ElicitURL == nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found"}
	}
	mode := text(params, "mode")
	switch {
	case (mode == "" || mode == "form") && h.Elicit != nil:
		return c.form(ctx, params)
	case mode == "url" && h.ElicitURL != nil:
		action, err := h.ElicitURL(ctx, urlRequest(params))
		if err != nil {
			return nil, err
		}
		return ElicitResult{Action: action}.encode(nil)
	}
	return nil, invalid("elicitation mode %q was not declared", short(mode)) // W30.15
}

func urlRequest(params []byte) ElicitURLRequest {
	return ElicitURLRequest{Message: text(params, "message"), URL: text(params, "url"), ID: text(params, "elicitationId"), Raw: params}
}

func (c *Client) form(ctx context.Context, params []byte) (json.RawMessage, error) {
	r := ElicitRequest{Message: text(params, "message"), Schema: member(params, "requestedSchema"), Raw: params}
	out, err := c.opts.Handlers.Elicit(ctx, r)
	if err != nil {
		if errors.Is(err, ErrRejected) {
			return ElicitResult{Action: Decline}.encode(nil)
		}
		return nil, err
	}
	return out.encode(&r)
}

// encode is the answer on the wire; defaults of the form fill an accepted one
// up (SEP-1034), and it must fit the form (W30.8).
func (e ElicitResult) encode(form *ElicitRequest) (json.RawMessage, error) {
	var o object
	switch e.Action {
	case Accept:
	case Decline, Cancel:
		o.set("action", strictjson.Quote(nil, string(e.Action)))
		return o.bytes(), nil
	default:
		return nil, fmt.Errorf("client: %q is no action", e.Action)
	}
	o.set("action", strictjson.Quote(nil, string(Accept)))
	if form == nil {
		return o.bytes(), nil
	}
	content, err := encodedObject("the content of a form", e.Content)
	if err != nil {
		return nil, err
	}
	if content == nil {
		content = []byte("{}")
	}
	var edits []strictjson.Edit
	for _, f := range form.Fields() {
		value, ok := strictjson.Get(content, f.Name)
		switch {
		case !ok && f.Default != nil:
			edits = append(edits, strictjson.Set(f.Default, f.Name))
		case !ok && f.Required:
			return nil, fmt.Errorf("client: the form requires %q", f.Name)
		case ok:
			if err := f.fits(value); err != nil {
				return nil, err
			}
		}
	}
	if len(edits) > 0 {
		if content, err = strictjson.Splice(content, edits...); err != nil {
			return nil, err
		}
	}
	o.set("content", content)
	return o.bytes(), nil
}

// fits checks a value's type and choices; formats and ranges are the server's
// to judge.
func (f Field) fits(value []byte) error {
	bad := func() error { return fmt.Errorf("client: %q does not fit the form: it wants %s", f.Name, f.Type) }
	s, isString := strictjson.String(value)
	switch f.Type {
	case "string":
		if !isString {
			return bad()
		}
		if choices := texts(f.Schema, "enum"); len(choices) > 0 && !has(choices, s) {
			return fmt.Errorf("client: %q does not fit the form: %q is none of its choices", f.Name, s)
		}
	case "number", "integer":
		if isString || !isNumber(value) {
			return bad()
		}
	case "boolean":
		if string(value) != "true" && string(value) != "false" {
			return bad()
		}
	case "array":
		if !strictjson.IsArray(value) {
			return bad()
		}
	}
	return nil
}

func isNumber(raw []byte) bool {
	return len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9')
}

func has(list []string, s string) bool {
	for _, one := range list {
		if one == s {
			return true
		}
	}
	return false
}
