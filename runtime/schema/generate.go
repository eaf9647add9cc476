package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	generator "github.com/google/jsonschema-go/jsonschema"
)

// For makes the schema of a Go type as it looks in JSON.
//
// Structs are closed objects; a field is required unless it is omitempty or
// omitzero; the jsonschema tag is its description. A second tag, schema, holds
// constraints, separated by commas (see [Tag]):
//
//	Unit string `json:"unit,omitempty" jsonschema:"of the answer" schema:"enum=C|F,default=C"`
//
// A pointer may also be null; slices, maps and []byte (base64) may not. Types
// that refer to themselves have no schema: write it by hand.
func For[T any]() (json.RawMessage, error) { return ForType(reflect.TypeFor[T]()) }

// ForType is For of a type known at run time.
func ForType(t reflect.Type) (json.RawMessage, error) {
	s, err := generator.ForType(t, &generator.ForOptions{TypeSchemas: map[reflect.Type]*generator.Schema{
		reflect.TypeFor[[]byte]():          {Type: "string", ContentEncoding: "base64"},
		reflect.TypeFor[json.RawMessage](): {},
		reflect.TypeFor[time.Time]():       {Type: "string", Format: "date-time"},
	}})
	if err != nil {
		return nil, fmt.Errorf("schema of %v: %w", t, err)
	}
	if t.Kind() == reflect.Pointer {
		notNull(s)
	}
	if err := refine(s, t, ""); err != nil {
		return nil, fmt.Errorf("schema of %v: %w", t, err)
	}
	raw, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("schema of %v: %w", t, err)
	}
	return raw, nil
}

// refine walks a type beside its schema: takes null away where our encoder
// never writes it, and applies the schema tags.
func refine(s *generator.Schema, t reflect.Type, at string) error {
	if s == nil {
		return nil
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Map:
		if t.Kind() == reflect.Slice {
			notNull(s)
		}
		sub := s.Items
		if t.Kind() == reflect.Map {
			sub = s.AdditionalProperties
		}
		return refine(sub, t.Elem(), at+"[]")
	case reflect.Array:
		return refine(s.Items, t.Elem(), at+"[]")
	case reflect.Struct:
		return refineFields(s, t, at)
	}
	return nil
}

func refineFields(s *generator.Schema, t reflect.Type, at string) error {
	if s.Properties == nil {
		return nil
	}
	for _, f := range reflect.VisibleFields(t) {
		name, ok := FieldName(f)
		sub := s.Properties[name]
		if !ok || sub == nil {
			continue
		}
		if err := refine(sub, f.Type, at+"."+f.Name); err != nil {
			return err
		}
		if err := apply(sub, f.Tag.Get("schema")); err != nil {
			return fmt.Errorf("field %s.%s: %w", at, f.Name, err)
		}
	}
	return nil
}

func notNull(s *generator.Schema) {
	if len(s.Types) == 2 && s.Types[0] == "null" {
		s.Type, s.Types = s.Types[1], nil
	}
}
