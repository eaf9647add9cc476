package schema

import (
	"bytes"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// property is a member of the root that has a default.
type property struct {
	name  string
	value []byte
}

func defaultsOf(raw []byte) []property {
	properties, _ := strictjson.Get(raw, "properties")
	var out []property
	strictjson.Each(properties, func(name, sub []byte) bool {
		if value, ok := strictjson.Get(sub, "default"); ok {
			out = append(out, property{name: string(name), value: value})
		}
		return true
	})
	return out
}

// WithDefaults adds to an object the members that are absent and for which the
// root's properties name a default. An object that lacks none, and anything
// that is no object, is returned as it is; value is never changed.
func (s *Schema) WithDefaults(value []byte) []byte {
	if len(s.defaults) == 0 || !strictjson.IsObject(value) {
		return value
	}
	var edits []strictjson.Edit
	for _, p := range s.defaults {
		if _, ok := strictjson.Get(value, p.name); !ok {
			edits = append(edits, strictjson.Set(bytes.Clone(p.value), p.name))
		}
	}
	if edits == nil {
		return value
	}
	out, err := strictjson.Splice(value, edits...)
	if err != nil {
		return value
	}
	return out
}
