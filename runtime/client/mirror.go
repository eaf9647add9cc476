package client

import (
	"math"
	"strconv"
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// annotation marks a property that is repeated as Mcp-Param-<value> (W15.13).
const annotation = "x-mcp-header"

// maxDepth bounds nested properties that are looked at.
const maxDepth = 32

// mirror is one annotated property.
type mirror struct {
	path []string
	name string // of the header
	kind string // JSON Schema type
}

type mirrors []mirror

// text is a value as a header has it (W15.19). A value of another type than
// the schema says is left to the server to refuse.
func (m mirror) text(raw []byte) (string, bool) {
	switch m.kind {
	case "string":
		return strictjson.String(raw)
	case "boolean":
		return string(raw), string(raw) == "true" || string(raw) == "false"
	}
	n, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || n != math.Trunc(n) || math.Abs(n) >= 1<<53 {
		return "", false
	}
	return strconv.FormatInt(int64(n), 10), true
}

// mirrored reads the annotations of an inputSchema; false when one of them
// breaks the rules (W15.14).
func mirrored(schema []byte) (mirrors, bool) {
	if !strings.Contains(string(schema), annotation) {
		return nil, true
	}
	w := walker{seen: map[string]bool{}, ok: true}
	w.properties(schema, nil)
	// An annotation anywhere but on such a property is one too many.
	return w.found, w.ok && annotations(schema, 0) == len(w.found)
}

// annotations counts them wherever a schema may stand.
func annotations(schema []byte, depth int) (n int) {
	if depth > 2*maxDepth {
		return 0
	}
	strictjson.Each(schema, func(key, value []byte) bool {
		switch string(key) {
		case annotation:
			n++
		case "enum", "const", "default", "examples":
		case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
			strictjson.Each(value, func(_, one []byte) bool {
				n += annotations(one, depth+1)
				return true
			})
		default:
			n += annotations(value, depth+1)
			strictjson.Elements(value, func(one []byte) bool {
				n += annotations(one, depth+1)
				return true
			})
		}
		return true
	})
	return n
}

type walker struct {
	found mirrors
	seen  map[string]bool
	ok    bool
}

func (w *walker) properties(schema []byte, path []string) {
	if len(path) >= maxDepth {
		return
	}
	properties, _ := strictjson.Get(schema, "properties")
	strictjson.Each(properties, func(name, property []byte) bool {
		at := append(path[:len(path):len(path)], string(name))
		if raw, has := strictjson.Get(property, annotation); has {
			w.annotated(raw, property, at)
		}
		w.properties(property, at)
		return true
	})
}

func (w *walker) annotated(raw, property []byte, path []string) {
	value, ok := strictjson.String(raw)
	kindRaw, _ := strictjson.Get(property, "type")
	kind, _ := strictjson.String(kindRaw)
	known := kind == "string" || kind == "integer" || kind == "boolean"
	if !ok || !known || !token(value) || w.seen[strings.ToLower(value)] {
		w.ok = false
		return
	}
	w.seen[strings.ToLower(value)] = true
	w.found = append(w.found, mirror{path: path, name: "Mcp-Param-" + value, kind: kind})
}

// token: 1*tchar of RFC 9110.
func token(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return s != ""
}
