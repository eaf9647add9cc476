package server

import (
	"context"
	"fmt"
	"sync"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// MaxCompletions is the most values that one answer may hold (W28.2).
const MaxCompletions = 100

// Ref names whose argument is completed: a prompt, or a resource template.
type Ref struct {
	prompt bool
	name   string
}

// PromptRef is an argument of a prompt.
func PromptRef(name string) Ref { return Ref{true, name} }

// TemplateRef is a variable of a resource template.
func TemplateRef(uriTemplate string) Ref { return Ref{false, uriTemplate} }

// CompleteRequest is a value to be completed.
type CompleteRequest struct {
	Argument, Value string
	// Arguments are the other arguments as far as they are known; empty in
	// revisions that do not tell (W28.3).
	Arguments map[string]string
}

// Completion are the best values, best first. More than MaxCompletions are
// cut, and the client is told.
type Completion struct {
	Values []string
	// Total is how many there are, 0 when it is not known.
	Total   int
	HasMore bool
}

// CompletionHandler completes one argument.
type CompletionHandler func(c *Context, r CompleteRequest) (Completion, error)

type completions struct {
	mu       sync.RWMutex
	handlers map[completionKey]CompletionHandler
}

type completionKey struct {
	ref      Ref
	argument string
}

// AddCompletion registers the completion of one argument. The prompt or
// template may be registered later; until then it is unknown. It returns
// ErrDuplicate for a second one.
func (s *Server) AddCompletion(ref Ref, argument string, h CompletionHandler) error {
	key := completionKey{ref, argument}
	s.completes.mu.Lock()
	defer s.completes.mu.Unlock()
	if _, there := s.completes.handlers[key]; there {
		return fmt.Errorf("completion of %q of %q: %w", argument, ref.name, ErrDuplicate)
	}
	if s.completes.handlers == nil {
		s.completes.handlers = map[completionKey]CompletionHandler{}
	}
	s.completes.handlers[key] = h
	s.saw(seenCompletions)
	return nil
}

// RemoveCompletion takes a completion out, if it is there.
func (s *Server) RemoveCompletion(ref Ref, argument string) {
	s.completes.mu.Lock()
	delete(s.completes.handlers, completionKey{ref, argument})
	s.completes.mu.Unlock()
}

type completeResult struct {
	Completion completed `json:"completion"`
}

type completed struct {
	Values  []string `json:"values"`
	Total   int      `json:"total,omitempty"`
	HasMore bool     `json:"hasMore,omitempty"`
}

// complete serves completion/complete (W28.4). An argument without a handler
// has the choices of its type as suggestions, if it has some.
func (s *Server) complete(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
	ref, bad := s.ref(callerOf(x), x.Msg.Params)
	if bad != nil {
		return dispatch.Fail(bad)
	}
	argument, _ := strictjson.Get(x.Msg.Params, "argument")
	name, isText := stringMember(argument, "name")
	value, isValue := stringMember(argument, "value")
	if !isText || !isValue {
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "argument must have a name and a value"))
	}
	r := CompleteRequest{Argument: name, Value: value}
	if x.Profile().CompletionContext {
		known, _ := strictjson.GetPath(x.Msg.Params, "context", "arguments")
		if r.Arguments, bad = textMembers(known); bad != nil {
			return dispatch.Fail(bad)
		}
	}
	s.completes.mu.RLock()
	h := s.completes.handlers[completionKey{ref, name}]
	s.completes.mu.RUnlock()
	out := Completion{Values: s.choices(ref, name, value)}
	if h != nil {
		c := s.newContext(ctx, x)
		var err error
		if out, err = h(c, r); err != nil {
			return dispatch.Fail(s.explain(c, err))
		}
	}
	w := completed(out)
	if len(w.Values) > MaxCompletions {
		if w.Total == 0 {
			w.Total = len(w.Values)
		}
		w.Values, w.HasMore = w.Values[:MaxCompletions], true
	}
	return s.encoded(encode(completeResult{w}))
}

// choices are what a typed prompt or template says of an argument itself.
func (s *Server) choices(ref Ref, argument, value string) []string {
	if ref.prompt {
		if e := s.prompts.get(ref.name); e != nil {
			return e.typed.suggest(argument, value)
		}
		return nil
	}
	if e := s.templates.get(ref.name); e != nil {
		return e.typed.suggest(argument, value)
	}
	return nil
}

// ref reads what is completed; what the caller may not see is unknown.
func (s *Server) ref(who Caller, params []byte) (Ref, *jsonrpc.Error) {
	raw, _ := strictjson.Get(params, "ref")
	switch text(raw, "type") {
	case "ref/prompt":
		name := text(raw, "name")
		if s.prompt(who, name) == nil {
			return Ref{}, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "unknown prompt: %.200s", name)
		}
		return PromptRef(name), nil
	case "ref/resource":
		uri := text(raw, "uri")
		if s.template(who, uri) == nil && s.find(who, uri) == nil {
			return Ref{}, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "unknown resource template: %.200s", uri)
		}
		return TemplateRef(uri), nil
	}
	return Ref{}, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "ref must be ref/prompt or ref/resource")
}

func stringMember(object []byte, name string) (string, bool) {
	raw, _ := strictjson.Get(object, name)
	return strictjson.String(raw)
}
