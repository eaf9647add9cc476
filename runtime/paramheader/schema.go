package paramheader

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

const (
	// Annotation is the keyword of a property that is repeated in a field.
	Annotation = "x-mcp-header"
	// Prefix is what the names of these fields begin with.
	Prefix = "Mcp-Param-"
)

// maxDepth bounds nested properties; deeper annotations are invalid.
const maxDepth = 32

// Param is one annotated property.
type Param struct {
	// Header is the name of the field, as the schema spells it.
	Header string
	// Path leads through arguments to the value, by exact member names.
	Path []string
}

// Params are the annotated properties of one inputSchema, in its order. They
// are read-only.
type Params []Param

// ErrInvalid is wrapped by every error of Parse.
var ErrInvalid = errors.New("invalid " + Annotation)

// Parse reads the annotations of an inputSchema. The error says which one
// breaks the rules of W15.14, whereupon a client leaves the tool out (W15.15).
// An array of types counts as none of the allowed ones (P34).
func Parse(schema []byte) (Params, error) {
	if !bytes.Contains(schema, []byte(`"`+Annotation)) {
		return nil, nil // nearly all schemas, without a scan
	}
	w := walker{seen: map[string]bool{}}
	w.properties(schema, nil)
	if w.err == nil {
		w.others(schema, 0)
	}
	if w.err != nil {
		return nil, w.err
	}
	return w.found, nil
}

type walker struct {
	found Params
	seen  map[string]bool
	err   error
}

func (w *walker) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...)
	}
}

// properties takes the annotations that count: on properties that are reached
// from the root through "properties" alone.
func (w *walker) properties(schema []byte, path []string) {
	if len(path) >= maxDepth {
		return
	}
	members, _ := strictjson.Get(schema, "properties")
	strictjson.Each(members, func(name, property []byte) bool {
		at := append(path[:len(path):len(path)], string(name))
		if value, has := strictjson.Get(property, Annotation); has {
			w.annotated(value, property, at)
		}
		w.properties(property, at)
		return w.err == nil
	})
}

func (w *walker) annotated(value, property []byte, path []string) {
	where := strings.Join(path, ".")
	name, ok := strictjson.String(value)
	if !ok || !token(name) {
		w.fail("%s: the name must be an HTTP token", where)
		return
	}
	raw, _ := strictjson.Get(property, "type")
	switch kind, _ := strictjson.String(raw); kind {
	case "string", "integer", "boolean":
	default:
		w.fail("%s: the type must be string, integer or boolean", where)
		return
	}
	if w.seen[strings.ToLower(name)] {
		w.fail("%s: the name %s is there twice", where, name)
		return
	}
	w.seen[strings.ToLower(name)] = true
	w.found = append(w.found, Param{Header: Prefix + name, Path: path})
}

// others fails when there is an annotation anywhere else that a schema may
// stand: on the root, in items, in a combination, in a definition.
func (w *walker) others(schema []byte, depth int) {
	n := 0
	w.count(schema, depth, &n)
	if n != len(w.found) {
		w.fail("%d of %d are not on properties of objects", n-len(w.found), n)
	}
}

func (w *walker) count(schema []byte, depth int, n *int) {
	if depth > 4*maxDepth {
		return
	}
	strictjson.Each(schema, func(key, value []byte) bool {
		switch string(key) {
		case Annotation:
			*n++
		case "enum", "const", "default", "examples": // data
		case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies":
			strictjson.Each(value, func(_, one []byte) bool {
				w.count(one, depth+1, n)
				return true
			})
		default:
			w.count(value, depth+1, n)
			strictjson.Elements(value, func(one []byte) bool {
				w.count(one, depth+1, n)
				return true
			})
		}
		return true
	})
}

// token: 1*tchar of RFC 9110.
func token(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}
