package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/schema"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

var errForm = errors.New("elicitation: the schema of a form is a flat object of strings, numbers, booleans and choices")

// maxShapes bounds the forms that are kept compiled; a handler asks the same
// ones again and again.
const maxShapes = 256

// shapes keeps the schemas of forms, compiled.
type shapes struct {
	mu    sync.Mutex
	known map[shapeKey]*schema.Schema
}

type shapeKey struct {
	rich bool
	raw  string
}

// of returns a form's schema as a revision has it, whose formats count (W30.8).
func (s *shapes) of(p mcp.Profile, raw json.RawMessage) (*schema.Schema, error) {
	key := shapeKey{p.RichEnums, string(raw)}
	s.mu.Lock()
	known := s.known[key]
	s.mu.Unlock()
	if known != nil {
		return known, nil
	}
	form, err := fitForm(p, raw)
	if err != nil {
		return nil, err
	}
	made, err := schema.Compile(form, schema.AssertFormats)
	if err != nil {
		return nil, fmt.Errorf("elicitation: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil || len(s.known) >= maxShapes {
		s.known = map[shapeKey]*schema.Schema{}
	}
	s.known[key] = made
	return made, nil
}

// fitForm checks that a schema is one of a form (W30.4) and spells it as a
// revision has it: before 2025-11-25 choices have titles by enumNames and only
// one can be taken.
func fitForm(p mcp.Profile, raw json.RawMessage) (json.RawMessage, error) {
	kind, _ := strictjson.Get(raw, "type")
	properties, ok := strictjson.Get(raw, "properties")
	if string(kind) != `"object"` || !ok || !strictjson.IsObject(properties) {
		return nil, errForm
	}
	out := strictjson.OneLine(raw)
	var edits []strictjson.Edit
	var bad error
	strictjson.Each(properties, func(name, field []byte) bool {
		var fitted []byte
		if fitted, bad = fitField(p, field); bad != nil {
			bad = fmt.Errorf("%w: %.100q: %w", errForm, name, bad)
			return false
		}
		if fitted != nil {
			edits = append(edits, strictjson.Set(fitted, "properties", string(name)))
		}
		return true
	})
	if bad != nil || edits == nil {
		return out, bad
	}
	return strictjson.Splice(out, edits...)
}

// fitField returns the field as the revision has it, nil when as it is.
func fitField(p mcp.Profile, field []byte) ([]byte, error) {
	kind, _ := strictjson.Get(field, "type")
	name, _ := strictjson.String(kind)
	switch name {
	case "number", "integer", "boolean":
		return nil, nil
	case "array":
		items, _ := strictjson.Get(field, "items")
		_, choice := strictjson.Get(items, "enum")
		_, titled := strictjson.Get(items, "anyOf")
		if !choice && !titled {
			return nil, errors.New("an array must be of choices")
		}
		if !p.RichEnums {
			return nil, errors.New("the client's revision has no choice of several")
		}
		return nil, nil
	case "string":
		choices, ok := strictjson.Get(field, "oneOf")
		if !ok || p.RichEnums {
			return nil, nil
		}
		return plainEnum(field, choices)
	}
	return nil, errors.New("its type is none of them")
}

// plainEnum spells choices with titles as enum and enumNames.
func plainEnum(field, choices []byte) ([]byte, error) {
	values, names := []byte{'['}, []byte{'['}
	whole := strictjson.Elements(choices, func(choice []byte) bool {
		value, ok := strictjson.Get(choice, "const")
		if !ok {
			return false
		}
		title, ok := strictjson.Get(choice, "title")
		if !ok {
			title = value
		}
		if len(values) > 1 {
			values, names = append(values, ','), append(names, ',')
		}
		values, names = append(values, value...), append(names, title...)
		return true
	})
	if !whole || len(values) == 1 {
		return nil, errors.New("oneOf must be of const and title")
	}
	return strictjson.Splice(field, strictjson.Delete("oneOf"),
		strictjson.Set(append(values, ']'), "enum"), strictjson.Set(append(names, ']'), "enumNames"))
}
