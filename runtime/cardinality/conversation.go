package cardinality

import (
	"slices"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// maxRole bounds what is copied when a message is split: an attacker's role
// times his blocks must not be more than he sent, by far.
const maxRole = 64

// conversation makes the messages of an object what they should be.
func conversation(object []byte, lists bool) (out []byte, changed bool, err error) {
	if !strictjson.IsObject(object) {
		return object, false, ErrShape
	}
	raw, ok := strictjson.Get(object, "messages")
	if !ok {
		return object, false, nil
	}
	var messages [][]byte
	edited := !strictjson.IsArray(raw)
	for _, m := range Items(raw) {
		parts, split, err := message(m, lists)
		if err != nil {
			return object, false, err
		}
		messages, edited = append(messages, parts...), edited || split
	}
	if !edited {
		return object, false, nil
	}
	return set(object, "messages", listOf(messages))
}

// message returns a message as one or several. What else it holds stays with the
// first; the others have its role and their block.
func message(raw []byte, lists bool) (parts [][]byte, edited bool, err error) {
	content, ok := strictjson.Get(raw, "content")
	if !ok || !strictjson.IsObject(raw) {
		return [][]byte{raw}, false, nil // nothing here to mend
	}
	items, edited, err := blocks(Items(content))
	if err != nil {
		return nil, false, err
	}
	if !strictjson.IsArray(content) || lists {
		if !edited {
			return [][]byte{raw}, false, nil
		}
		value := items[0]
		if strictjson.IsArray(content) {
			value = listOf(items)
		}
		out, _, err := set(raw, "content", value)
		return [][]byte{out}, true, err
	}
	if len(items) == 0 {
		return nil, false, ErrEmpty
	}
	role, _ := strictjson.Get(raw, "role")
	if len(items) > 1 && (len(role) == 0 || len(role) > maxRole) || slices.ContainsFunc(items, strictjson.IsArray) {
		return nil, false, ErrShape
	}
	first, _, err := set(raw, "content", items[0])
	if err != nil {
		return nil, false, err
	}
	parts = [][]byte{first}
	for _, block := range items[1:] {
		part := append([]byte(`{"role":`), role...)
		part = append(append(part, `,"content":`...), block...)
		parts = append(parts, append(part, '}'))
	}
	return parts, true, nil
}

// blocks unpacks embedded resources that came as lists.
func blocks(items [][]byte) (out [][]byte, edited bool, err error) {
	out = items
	for i, block := range items {
		resource, ok := strictjson.Get(block, "resource")
		if !ok || !strictjson.IsArray(resource) {
			continue
		}
		list := Items(resource)
		switch {
		case len(list) == 0:
			return nil, false, ErrEmpty
		case strictjson.IsArray(list[0]):
			return nil, false, ErrShape
		}
		value, _, err := set(block, "resource", list[0])
		if err != nil {
			return nil, false, err
		}
		if !edited {
			out, edited = append([][]byte(nil), items...), true
		}
		out[i] = value
	}
	return out, edited, nil
}
