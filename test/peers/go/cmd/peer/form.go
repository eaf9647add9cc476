package main

import "encoding/json"

// filled gives every member of a flat form that has to be there a legal value,
// as ../../../clients/answers.mjs does.
func filled(schema any) map[string]any {
	raw, err := json.Marshal(schema)
	if err != nil {
		return nil
	}
	var form struct {
		Required   []string
		Properties map[string]field
	}
	if json.Unmarshal(raw, &form) != nil {
		return nil
	}
	out := map[string]any{}
	for _, name := range form.Required {
		out[name] = form.Properties[name].value()
	}
	return out
}

type field struct {
	Type, Format string
	Default      any
	Enum         []any
	OneOf        []struct{ Const any }
}

func (f field) value() any {
	switch {
	case f.Default != nil:
		return f.Default
	case len(f.Enum) > 0:
		return f.Enum[0]
	case len(f.OneOf) > 0:
		return f.OneOf[0].Const
	}
	switch f.Type {
	case "boolean":
		return true
	case "integer", "number":
		return 1
	case "array":
		return []any{}
	}
	switch f.Format {
	case "email":
		return "peer@example.com"
	case "uri":
		return "https://example.com/"
	case "date":
		return "2026-07-28"
	case "date-time":
		return "2026-07-28T00:00:00Z"
	}
	return "elicited from the peer client"
}
