package server

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/schema"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// binding reads texts, a prompt's arguments or a template's variables, into
// the fields of a struct.
type binding struct {
	schema *schema.Schema
	fields []boundField
}

type boundField struct {
	name     string
	index    []int
	required bool
	title    string
	about    string
	// choices are the texts that the field may hold, nil for any.
	choices []string
}

func newBinding[In any]() (*binding, error) {
	t := reflect.TypeFor[In]()
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%v is no struct", t)
	}
	raw, err := schema.ForType(t)
	if err != nil {
		return nil, err
	}
	compiled, err := schema.Compile(raw)
	if err != nil {
		return nil, err
	}
	b := &binding{schema: compiled}
	required := map[string]bool{}
	names, _ := strictjson.Get(raw, "required")
	strictjson.Elements(names, func(v []byte) bool {
		name, _ := strictjson.String(v)
		required[name] = true
		return true
	})
	for _, f := range reflect.VisibleFields(t) {
		name, ok := schema.FieldName(f)
		if !ok || f.Anonymous {
			continue
		}
		if !scalar(f.Type) {
			return nil, fmt.Errorf("field %s: %v cannot be read from text", f.Name, f.Type)
		}
		sub, _ := strictjson.GetPath(raw, "properties", name)
		b.fields = append(b.fields, boundField{name, f.Index, required[name], text(sub, "title"), text(sub, "description"), choicesOf(sub)})
	}
	return b, nil
}

// choicesOf are the texts that a schema names: enum, or oneOf with const.
func choicesOf(field []byte) []string {
	var out []string
	add := func(raw []byte) {
		if value, ok := strictjson.String(raw); ok {
			out = append(out, value)
		}
	}
	choices, _ := strictjson.Get(field, "enum")
	strictjson.Elements(choices, func(v []byte) bool { add(v); return true })
	choices, _ = strictjson.Get(field, "oneOf")
	strictjson.Elements(choices, func(v []byte) bool {
		value, _ := strictjson.Get(v, "const")
		add(value)
		return true
	})
	return out
}

// hasChoices reports whether there is something to suggest.
func (b *binding) hasChoices() bool {
	return b != nil && slices.ContainsFunc(b.fields, func(f boundField) bool { return f.choices != nil })
}

// suggest completes a field that names its choices.
func (b *binding) suggest(name, value string) []string {
	if b == nil {
		return nil
	}
	var out []string
	for _, f := range b.fields {
		for _, c := range f.choices {
			if f.name == name && strings.HasPrefix(c, value) {
				out = append(out, c)
			}
		}
	}
	return out
}

func scalar(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String, reflect.Bool, reflect.Float32, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return true
	}
	return false
}

func (b *binding) arguments() []PromptArgument {
	var out []PromptArgument
	for _, f := range b.fields {
		out = append(out, PromptArgument{Name: f.name, Title: f.title, Description: f.about, Required: f.required})
	}
	return out
}

// bind sets the fields, with defaults where the schema has some, and holds the
// whole against the schema.
func (b *binding) bind(args map[string]string, into any) error {
	v := reflect.ValueOf(into).Elem()
	object := []byte(`{}`)
	for _, f := range b.fields {
		value, ok := args[f.name]
		if !ok {
			continue
		}
		field := v.FieldByIndex(f.index)
		if err := setText(field, value); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		raw, err := encode(field.Interface())
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		if object, err = strictjson.Splice(object, strictjson.Set(raw, f.name)); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	object = b.schema.WithDefaults(object)
	if err := b.schema.Validate(object); err != nil {
		return err
	}
	return decode(object, into)
}

func setText(v reflect.Value, value string) error {
	switch {
	case v.Kind() == reflect.String:
		v.SetString(value)
	case v.Kind() == reflect.Bool:
		b, err := strconv.ParseBool(value)
		if err != nil {
			return fmt.Errorf("%.50q is no boolean", value)
		}
		v.SetBool(b)
	case v.CanInt():
		n, err := strconv.ParseInt(value, 10, v.Type().Bits())
		if err != nil {
			return fmt.Errorf("%.50q is no integer that fits", value)
		}
		v.SetInt(n)
	case v.CanUint():
		n, err := strconv.ParseUint(value, 10, v.Type().Bits())
		if err != nil {
			return fmt.Errorf("%.50q is no natural number that fits", value)
		}
		v.SetUint(n)
	default:
		n, err := strconv.ParseFloat(value, v.Type().Bits())
		if err != nil {
			return fmt.Errorf("%.50q is no number", value)
		}
		v.SetFloat(n)
	}
	return nil
}
