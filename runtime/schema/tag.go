package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	generator "github.com/google/jsonschema-go/jsonschema"
)

// Tag is the name of the struct tag with constraints. Its parts are separated
// by commas, each a word, an equals sign and a value; a backslash takes away
// the meaning of the character after it:
//
//	enum=a|b        one of these, of the field's type
//	titles=A|B      titles of the choices, as oneOf (W30.4)
//	default=x       of the field's type
//	min= max=       of a number, the length of a string, the items of an array
//	format= pattern=
//	title= header=  header becomes x-mcp-header (W15.13)
const Tag = "schema"

// FieldName is the name of a struct field in JSON; ok is false for one that is
// not there.
func FieldName(f reflect.StructField) (string, bool) {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "-" || !f.IsExported() {
		return "", false
	}
	if name == "" {
		name = f.Name
	}
	return name, true
}

func apply(s *generator.Schema, tag string) error {
	var titles []string
	for _, part := range cut(tag, ',') {
		word, value, ok := strings.Cut(part, "=")
		if !ok {
			return fmt.Errorf("schema tag: %q has no value", part)
		}
		if word == "titles" {
			titles = values(value)
			continue
		}
		if err := applyOne(s, word, value); err != nil {
			return fmt.Errorf("schema tag: %s: %w", word, err)
		}
	}
	return entitle(s, titles)
}

func applyOne(s *generator.Schema, word, value string) error {
	switch word {
	case "enum":
		choices := s
		if typeOf(s) == "array" && s.Items != nil {
			choices = s.Items
		}
		for _, text := range values(value) {
			v, err := literal(choices, text)
			if err != nil {
				return err
			}
			choices.Enum = append(choices.Enum, v)
		}
	case "default":
		v, err := literal(s, unescape(value))
		if err != nil {
			return err
		}
		s.Default = v
	case "min", "max":
		return bound(s, word == "min", value)
	case "format":
		s.Format = value
	case "pattern":
		s.Pattern = unescape(value)
	case "title":
		s.Title = unescape(value)
	case "header":
		notNull(s) // a list of types is not allowed on a mirrored member (P34)
		s.Extra = map[string]any{"x-mcp-header": value}
	default:
		return fmt.Errorf("unknown word")
	}
	return nil
}

func bound(s *generator.Schema, least bool, value string) error {
	n, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return fmt.Errorf("%q is no number", value)
	}
	whole := int(n)
	switch kind := typeOf(s); {
	case kind == "string" && least:
		s.MinLength = &whole
	case kind == "string":
		s.MaxLength = &whole
	case kind == "array" && least:
		s.MinItems = &whole
	case kind == "array":
		s.MaxItems = &whole
	case least:
		s.Minimum = &n
	default:
		s.Maximum = &n
	}
	return nil
}

// entitle turns choices into oneOf with titles, anyOf where several may be
// chosen.
func entitle(s *generator.Schema, titles []string) error {
	if titles == nil {
		return nil
	}
	choices, several := s, false
	if typeOf(s) == "array" && s.Items != nil {
		choices, several = s.Items, true
	}
	if len(titles) != len(choices.Enum) {
		return fmt.Errorf("schema tag: %d titles for %d choices", len(titles), len(choices.Enum))
	}
	var out []*generator.Schema
	for i, v := range choices.Enum {
		out = append(out, &generator.Schema{Const: &v, Title: titles[i]})
	}
	choices.Enum = nil
	if several {
		choices.AnyOf = out
		choices.Type, choices.Types = "", nil
		return nil
	}
	choices.OneOf = out
	return nil
}

func typeOf(s *generator.Schema) string {
	if i := slices.IndexFunc(s.Types, func(t string) bool { return t != "null" }); i >= 0 {
		return s.Types[i]
	}
	return s.Type
}

// literal reads a value as the schema's type: strings need no quotes.
func literal(s *generator.Schema, text string) (json.RawMessage, error) {
	if typeOf(s) == "string" {
		return json.Marshal(text)
	}
	if !json.Valid([]byte(text)) {
		return nil, fmt.Errorf("%q is no %s", text, typeOf(s))
	}
	return json.RawMessage(text), nil
}

func values(text string) []string {
	parts := cut(text, '|')
	for i := range parts {
		parts[i] = unescape(parts[i])
	}
	return parts
}

// cut splits at separators that no backslash precedes, and keeps backslashes.
func cut(text string, separator byte) []string {
	if text == "" {
		return nil
	}
	var out []string
	start := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case separator:
			out = append(out, text[start:i])
			start = i + 1
		}
	}
	return append(out, text[start:])
}

func unescape(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
