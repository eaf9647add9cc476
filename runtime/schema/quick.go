package schema

import (
	"errors"
	"io"
	"math/bits"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// quick accepts what most tools are called with, flat objects of plain members,
// while it reads the bytes. It only ever says yes: whatever it does not know or
// does not like is for the whole checker, which words what is wrong.
type quick struct {
	members map[string]quickMember
	// required has a bit for each required member.
	required uint64
	// open: members that are not named may be there.
	open bool
}

type quickMember struct {
	kind quickKind
	// choices, when not nil, are the only strings that it may be.
	choices map[string]bool
	bit     uint64
}

type quickKind uint8

const (
	quickUnknown quickKind = iota // not decided here
	quickAny
	quickString
	quickNumber
	quickInteger
	quickBoolean
)

// quickOf reads a schema; nil when it says more than quick understands.
func quickOf(raw []byte) *quick {
	q := &quick{members: map[string]quickMember{}, open: true}
	fine := true
	var required [][]byte
	whole := strictjson.Each(raw, func(name, value []byte) bool {
		switch string(name) {
		case "type":
			text, _ := strictjson.String(value)
			fine = text == "object"
		case "properties":
			fine = strictjson.Each(value, func(name, sub []byte) bool {
				q.members[string(name)] = quickMemberOf(sub)
				return true
			})
		case "required":
			fine = strictjson.Elements(value, func(v []byte) bool { required = append(required, v); return true })
		case "additionalProperties":
			switch string(value) {
			case "false":
				q.open = false
			case "true":
			default:
				fine = false
			}
		case "$schema":
			text, _ := strictjson.String(value)
			fine = text == dialect
		default:
			fine = annotation(string(name))
		}
		return fine
	})
	if !fine || !whole || len(required) > 64 {
		return nil
	}
	for i, v := range required {
		name, _ := strictjson.String(v)
		m, ok := q.members[name]
		if !ok {
			return nil
		}
		m.bit = 1 << i
		q.members[name] = m
		q.required |= m.bit
	}
	return q
}

const dialect = "https://json-schema.org/draft/2020-12/schema"

// annotation reports whether a keyword says nothing about values.
func annotation(keyword string) bool {
	switch keyword {
	case "title", "description", "default", "examples", "$comment", "deprecated", "readOnly", "writeOnly", "x-mcp-header", "contentEncoding", "contentMediaType":
		return true
	}
	return false
}

func quickMemberOf(raw []byte) (m quickMember) {
	if string(raw) == "true" {
		return quickMember{kind: quickAny}
	}
	fine, kind := true, quickAny
	whole := strictjson.Each(raw, func(name, value []byte) bool {
		switch string(name) {
		case "type":
			text, _ := strictjson.String(value)
			kind = map[string]quickKind{"string": quickString, "number": quickNumber, "integer": quickInteger, "boolean": quickBoolean}[text]
			fine = kind != quickUnknown
		case "enum":
			m.choices = map[string]bool{}
			fine = strictjson.Elements(value, func(v []byte) bool {
				text, isText := strictjson.String(v)
				m.choices[text] = true
				fine = fine && isText
				return true
			}) && fine
		default:
			fine = annotation(string(name))
		}
		return fine
	})
	if !fine || !whole || m.choices != nil && kind != quickString {
		return quickMember{}
	}
	m.kind = kind
	return m
}

// accepts reports whether a value fits for sure.
func (q *quick) accepts(raw []byte) bool {
	if q == nil {
		return false
	}
	r := readers.Get().(*reader)
	defer func() {
		r.Reader.Reset(nil)
		readers.Put(r)
	}()
	r.Reader.Reset(raw)
	d := &r.decoder
	d.Reset(&r.Reader, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return false
	}
	seen := uint64(0)
	for d.PeekKind() == '"' {
		name, err := d.ReadValue()
		if err != nil || !plain(name) {
			return false
		}
		m, named := q.members[string(name[1:len(name)-1])]
		value, err := d.ReadValue()
		if err != nil || !named && !q.open || named && !m.fits(value) {
			return false
		}
		seen |= m.bit
	}
	if t, err := d.ReadToken(); err != nil || t.Kind() != '}' {
		return false
	}
	_, err := d.ReadToken()
	return errors.Is(err, io.EOF) && bits.OnesCount64(seen) == bits.OnesCount64(q.required)
}

// plain reports whether a raw string has no escapes.
func plain(raw []byte) bool {
	for _, c := range raw {
		if c == '\\' {
			return false
		}
	}
	return true
}

func (m quickMember) fits(raw []byte) bool {
	switch m.kind {
	case quickAny:
		return true
	case quickString:
		return raw[0] == '"' && (m.choices == nil || plain(raw) && m.choices[string(raw[1:len(raw)-1])])
	case quickBoolean:
		return raw[0] == 't' || raw[0] == 'f'
	case quickNumber:
		return raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9'
	case quickInteger:
		for i, c := range raw {
			if (c < '0' || c > '9') && (c != '-' || i > 0) {
				return false // perhaps 1.0 or 1e3
			}
		}
		return true
	}
	return false
}
