package server

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/uritemplate"
)

// Template describes resources that share a form of URI. URITemplate and Name
// are required; what templates may hold says package uritemplate.
type Template struct {
	URITemplate, Name, Title, Description, MIMEType string
	Annotations                                     *Annotations
	Icons                                           []Icon
	Meta                                            json.RawMessage
	// Cache overrides the hint on what is read.
	Cache *Hint
	// Scopes must be granted to the caller.
	Scopes []string
	// Visible, when not nil, says who is shown the template; to others it does
	// not exist.
	Visible func(Caller) bool
}

type templateEntry struct {
	template Template
	parsed   *uritemplate.Template
	handler  ResourceHandler
	// typed, when not nil, knows the variables' choices.
	typed *binding
	forms forms
}

func (e *templateEntry) visible() func(Caller) bool { return e.template.Visible }

// AddTemplate registers a template. The handler gets the variables decoded.
// Errors are ErrDuplicate, ErrName, a template that does not parse, and
// descriptions that do not encode.
func (s *Server) AddTemplate(t Template, h ResourceHandler) error { return s.addTemplate(t, h, nil) }

func (s *Server) addTemplate(t Template, h ResourceHandler, typed *binding) error {
	if err := s.checkName(KindTemplate, t.URITemplate); err != nil {
		return err
	}
	parsed, err := uritemplate.Parse(t.URITemplate)
	if err != nil {
		return fmt.Errorf("resource template %q: %w", t.URITemplate, err)
	}
	if t.Name == "" {
		t.Name = t.URITemplate
	}
	e := &templateEntry{template: t, parsed: parsed, handler: h, typed: typed}
	if err := e.forms.try(e.encode); err != nil {
		return fmt.Errorf("resource template %q: %w", t.URITemplate, err)
	}
	if err := s.templates.add(t.URITemplate, e); err != nil {
		return fmt.Errorf("resource template %w", err)
	}
	s.saw(seenResources)
	if typed.hasChoices() {
		s.saw(seenCompletions)
	}
	s.watchers.changed(KindTemplate, t.URITemplate, t.Visible)
	return nil
}

// AddTemplate registers a template whose variables are the fields of a struct:
// strings, numbers, booleans, with names and constraints from the tags as with
// [AddTool]. A URI whose variables do not fit does not exist.
func AddTemplate[In any](s *Server, t Template, h func(c *Context, uri string, in In) (ResourceOutcome, error)) error {
	b, err := newBinding[In]()
	if err != nil {
		return fmt.Errorf("resource template %q: %w", t.URITemplate, err)
	}
	return s.addTemplate(t, func(c *Context, r ReadRequest) (ResourceOutcome, error) {
		var in In
		if err := b.bind(r.Vars, &in); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNotFound, err)
		}
		return h(c, r.URI, in)
	}, b)
}

// RemoveTemplates takes templates out; those that are not there do not matter.
func (s *Server) RemoveTemplates(templates ...string) {
	for _, e := range s.templates.remove(templates...) {
		s.watchers.changed(KindTemplate, e.template.URITemplate, e.template.Visible)
	}
}

func (e *templateEntry) encode(p mcp.Profile) ([]byte, error) {
	t := e.template
	return encode(listedResource{URITemplate: t.URITemplate, Name: t.Name, Title: t.Title, Description: t.Description,
		MIMEType: t.MIMEType, Annotations: t.Annotations, Icons: t.Icons, Meta: t.Meta}.fit(p))
}

func (s *Server) listTemplates(_ context.Context, x *dispatch.Exchange) dispatch.Outcome {
	return page(s, x, KindTemplate, "resourceTemplates", &s.templates, (*templateEntry).visible, func(e *templateEntry) []byte {
		return e.forms.of(x.Profile(), e.encode)
	})
}

// match finds the template with the most literal text among those that match
// and show themselves; of equals the first by name.
func (s *Server) match(who Caller, uri string) *readable {
	var best *templateEntry
	var vars map[string]string
	for _, it := range s.templates.all() {
		e := it.value
		if best != nil && e.parsed.Literal() <= best.parsed.Literal() {
			continue
		}
		found, ok := e.parsed.Match(uri)
		if ok && s.sees(who, KindTemplate, it.key, e.template.Visible) {
			best, vars = e, found
		}
	}
	if best == nil {
		return nil
	}
	return &readable{handler: best.handler, vars: vars, scopes: best.template.Scopes, cache: best.template.Cache}
}

// template finds a template that the caller may see, nil if there is none.
func (s *Server) template(who Caller, key string) *templateEntry {
	e := s.templates.get(key)
	if e == nil || !s.sees(who, KindTemplate, key, e.template.Visible) {
		return nil
	}
	return e
}
