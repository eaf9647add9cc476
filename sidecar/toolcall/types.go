package toolcall

import (
	"slices"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// types are what a property may be by its type, by the values that it lists, or
// by its alternatives (a nullable property of Pydantic's is anyOf); nil when it
// does not say, or not for all of them.
func types(property []byte) (out []string) {
	add := func(kinds ...string) {
		for _, kind := range kinds {
			if !slices.Contains(out, kind) {
				out = append(out, kind)
			}
		}
	}
	if value, ok := strictjson.Get(property, "type"); ok {
		if text, ok := strictjson.String(value); ok {
			return []string{text}
		}
		strictjson.Elements(value, func(one []byte) bool {
			if text, ok := strictjson.String(one); ok {
				add(text)
			}
			return true
		})
		return out
	}
	if list, ok := strictjson.Get(property, "enum"); ok {
		strictjson.Elements(list, func(one []byte) bool {
			add(kindOf(string(one)))
			return true
		})
		return out
	}
	said := true
	alternatives(property, func(one []byte) {
		kinds := types(one)
		said = said && kinds != nil
		add(kinds...)
	})
	if !said {
		return nil
	}
	return out
}

// listOf reports whether a property that is not null is a list, and what its
// items are.
func listOf(property []byte) (items []byte, list bool) {
	kinds := slices.DeleteFunc(slices.Clone(types(property)), func(kind string) bool { return kind == "null" })
	if !slices.Equal(kinds, []string{"array"}) {
		return nil, false
	}
	items, _ = strictjson.Get(property, "items")
	alternatives(property, func(one []byte) {
		if in, ok := strictjson.Get(one, "items"); ok && items == nil {
			items = in
		}
	})
	return items, true
}

func alternatives(property []byte, each func([]byte)) {
	for _, name := range []string{"anyOf", "oneOf"} {
		list, _ := strictjson.Get(property, name)
		strictjson.Elements(list, func(one []byte) bool {
			each(one)
			return true
		})
	}
}
