package server

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Prompt describes a prompt. Only the name is required.
type Prompt struct {
	Name, Title, Description string
	Arguments                []PromptArgument
	Icons                    []Icon
	Meta                     json.RawMessage
	// Scopes must be granted to the caller.
	Scopes []string
	// Visible, when not nil, says who is shown the prompt; to others it does
	// not exist.
	Visible func(Caller) bool
}

// PromptArgument is one argument of a prompt; all are text.
type PromptArgument struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
}

// PromptOutcome is the closed set of what a prompt answers with: *PromptResult
// and *InputRequired.
type PromptOutcome interface{ promptOutcome() }

// PromptResult is a prompt's messages.
type PromptResult struct {
	Description string          `json:"description,omitempty"`
	Messages    []PromptMessage `json:"messages"`
	Meta        json.RawMessage `json:"_meta,omitempty"`
}

func (*PromptResult) promptOutcome() {}

// PromptMessage is one message of a prompt.
type PromptMessage struct {
	Role    string  `json:"role"`
	Content Content `json:"content"`
}

// PromptText is a result of one message of text by the user.
func PromptText(text string) *PromptResult {
	return &PromptResult{Messages: []PromptMessage{{Role: RoleUser, Content: Text(text)}}}
}

// PromptHandler makes a prompt. All required arguments are there.
type PromptHandler func(c *Context, args map[string]string) (PromptOutcome, error)

type promptEntry struct {
	prompt  Prompt
	handler PromptHandler
	// typed, when not nil, knows the arguments' choices.
	typed *binding
	forms forms
}

func (e *promptEntry) visible() func(Caller) bool { return e.prompt.Visible }

// AddPrompt registers a prompt. Errors are ErrDuplicate, ErrName, and
// descriptions that do not encode.
func (s *Server) AddPrompt(p Prompt, h PromptHandler) error { return s.addPrompt(p, h, nil) }

func (s *Server) addPrompt(p Prompt, h PromptHandler, typed *binding) error {
	if err := s.checkName(KindPrompt, p.Name); err != nil {
		return err
	}
	e := &promptEntry{prompt: p, handler: h, typed: typed}
	if err := e.forms.try(e.encode); err != nil {
		return fmt.Errorf("prompt %q: %w", p.Name, err)
	}
	if err := s.prompts.add(p.Name, e); err != nil {
		return fmt.Errorf("prompt %w", err)
	}
	s.saw(seenPrompts)
	if typed.hasChoices() {
		s.saw(seenCompletions)
	}
	s.watchers.changed(KindPrompt, p.Name, p.Visible)
	return nil
}

// AddPrompt registers a prompt whose arguments are the fields of a struct:
// strings, numbers, booleans. Names, descriptions and constraints come from the
// tags as with [AddTool]; a field without omitempty is required, and one with
// choices (enum) is completed by itself.
func AddPrompt[In any](s *Server, p Prompt, h func(c *Context, in In) (PromptOutcome, error)) error {
	b, err := newBinding[In]()
	if err != nil {
		return fmt.Errorf("prompt %q: %w", p.Name, err)
	}
	if p.Arguments == nil {
		p.Arguments = b.arguments()
	}
	return s.addPrompt(p, func(c *Context, args map[string]string) (PromptOutcome, error) {
		var in In
		if err := b.bind(args, &in); err != nil {
			return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "invalid arguments: %s", oneLine(err))
		}
		return h(c, in)
	}, b)
}

// RemovePrompts takes prompts out; names that are not there do not matter.
func (s *Server) RemovePrompts(names ...string) {
	for _, e := range s.prompts.remove(names...) {
		s.watchers.changed(KindPrompt, e.prompt.Name, e.prompt.Visible)
	}
}

type listedPrompt struct {
	Name        string           `json:"name"`
	Title       string           `json:"title,omitempty"`
	Description string           `json:"description,omitempty"`
	Arguments   []PromptArgument `json:"arguments,omitempty"`
	Icons       []Icon           `json:"icons,omitempty"`
	Meta        json.RawMessage  `json:"_meta,omitempty"`
}

func (e *promptEntry) encode(p mcp.Profile) ([]byte, error) {
	l := listedPrompt{Name: e.prompt.Name, Description: e.prompt.Description}
	for _, a := range e.prompt.Arguments {
		if !p.Titles {
			a.Title = ""
		}
		l.Arguments = append(l.Arguments, a)
	}
	if p.Titles {
		l.Title, l.Meta = e.prompt.Title, e.prompt.Meta
	}
	if p.Icons {
		l.Icons = e.prompt.Icons
	}
	return encode(l)
}

func (s *Server) listPrompts(_ context.Context, x *dispatch.Exchange) dispatch.Outcome {
	return page(s, x, KindPrompt, "prompts", &s.prompts, (*promptEntry).visible, func(e *promptEntry) []byte {
		return e.forms.of(x.Profile(), e.encode)
	})
}

// prompt finds a prompt that the caller may see, nil if there is none.
func (s *Server) prompt(who Caller, name string) *promptEntry {
	e := s.prompts.get(name)
	if e == nil || !s.sees(who, KindPrompt, name, e.prompt.Visible) {
		return nil
	}
	return e
}

// getPrompt serves prompts/get (W27.3).
func (s *Server) getPrompt(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
	in := readIncoming(x.Msg.Params, "name")
	name, _ := strictjson.String(in.name)
	e := s.prompt(callerOf(x), name)
	if e == nil {
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "unknown prompt: %.200s", name))
	}
	if missing := x.Identity().Missing(e.prompt.Scopes...); len(missing) > 0 {
		return dispatch.Fail(lacking(x, e.prompt.Scopes))
	}
	args, bad := textMembers(in.arguments)
	if bad != nil {
		return dispatch.Fail(bad)
	}
	for _, a := range e.prompt.Arguments {
		if _, ok := args[a.Name]; a.Required && !ok {
			return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "the argument %.100q is missing", a.Name))
		}
	}
	c := s.newContext(ctx, x)
	c.in = in
	return s.rounds(c, func() ([]byte, *InputRequired, error) {
		out, err := e.handler(c, args)
		if err != nil {
			return nil, nil, err
		}
		switch out := out.(type) {
		case *InputRequired:
			return nil, out, nil
		case *PromptResult:
			raw, err := encodePrompt(x.Profile(), out)
			return raw, nil, err
		}
		return nil, nil, fmt.Errorf("prompt %q: no result", name)
	}, nil)
}

func encodePrompt(p mcp.Profile, r *PromptResult) ([]byte, error) {
	if r == nil {
		r = &PromptResult{}
	}
	if p.Icons {
		return encode(r)
	}
	fitted := *r
	fitted.Messages = make([]PromptMessage, len(r.Messages))
	for i, m := range r.Messages {
		fitted.Messages[i] = PromptMessage{m.Role, fitOne(p, m.Content)}
	}
	return encode(fitted)
}

// textMembers reads an object of texts; null is absent.
func textMembers(raw []byte) (map[string]string, *jsonrpc.Error) {
	out := map[string]string{}
	if raw == nil || strictjson.IsNull(raw) {
		return out, nil
	}
	fine := true
	whole := strictjson.Each(raw, func(name, value []byte) bool {
		var isText bool
		out[string(name)], isText = strictjson.String(value)
		fine = fine && isText
		return fine
	})
	if !fine || !whole {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "arguments must be an object of texts")
	}
	return out, nil
}
