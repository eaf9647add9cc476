package wireschema

import (
	"bytes"
	_ "embed" // the schema of the tasks extension
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schema is the schema of one revision.
type schema struct {
	url      string // of its document inside the compiler
	defs     string // $defs or definitions
	names    map[string]bool
	requests map[string]string // method → definition
	results  map[string]string
	errors   map[int64]string

	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema
}

// revisions returns the folders of dir that hold a schema.
func revisions(dir string) ([]string, error) {
	found, err := filepath.Glob(filepath.Join(dir, "*-*-*", "schema.json"))
	if err != nil {
		return nil, err
	}
	var out []string
	for _, f := range found {
		out = append(out, filepath.Base(filepath.Dir(f)))
	}
	return out, nil
}

func load(dir, revision string) (*schema, error) {
	f, err := os.Open(filepath.Join(dir, revision, "schema.json"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s, err := build(revision, f)
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", revision, err)
	}
	return s, nil
}

//go:embed tasks.schema.json
var tasksSchema []byte

// loadTasks is the schema of the tasks extension, which is ours.
func loadTasks() (*schema, error) { return build("tasks", bytes.NewReader(tasksSchema)) }

func build(name string, text io.Reader) (*schema, error) {
	doc, err := jsonschema.UnmarshalJSON(text)
	if err != nil {
		return nil, err
	}
	s := &schema{
		url: "mem:///" + name + ".json", defs: "$defs",
		names: map[string]bool{}, requests: map[string]string{}, results: map[string]string{}, errors: map[int64]string{},
		compiler: jsonschema.NewCompiler(), compiled: map[string]*jsonschema.Schema{},
	}
	s.compiler.UseLoader(offline{})
	s.compiler.AssertFormat()
	s.compiler.RegisterFormat(&jsonschema.Format{Name: "byte", Validate: isBase64})
	root, _ := doc.(map[string]any)
	if root[s.defs] == nil {
		s.defs = "definitions"
	}
	defs, _ := root[s.defs].(map[string]any)
	if len(defs) == 0 {
		return nil, errors.New("it has no definitions")
	}
	erratum(defs)
	s.index(defs)
	return s, s.compiler.AddResource(s.url, doc)
}

// offline refuses to load what a schema refers to elsewhere.
type offline struct{}

// Load implements jsonschema.URLLoader.
func (offline) Load(url string) (any, error) {
	return nil, fmt.Errorf("the schema refers to %s outside itself", url)
}

func isBase64(v any) error {
	s, ok := v.(string)
	if !ok {
		return nil
	}
	_, err := base64.StdEncoding.DecodeString(s)
	return err
}

// erratum undoes a fault of the schemas of 2025-06-18 and 2025-11-25: their
// generator made integers of numbers in forms and in the answers to them, so
// that 95.5, which the protocol allows, is refused.
func erratum(defs map[string]any) {
	properties, _ := constant(defs["NumberSchema"], "properties").(map[string]any)
	for _, name := range []string{"minimum", "maximum", "default"} {
		toNumber(properties[name])
	}
	values := constant(defs["ElicitResult"], "properties", "content", "additionalProperties")
	toNumber(values)
	choices, _ := constant(values, "anyOf").([]any)
	for _, choice := range choices {
		toNumber(choice)
	}
}

// toNumber lets a schema whose type is integer, alone or among others, take any
// number.
func toNumber(schema any) {
	s, _ := schema.(map[string]any)
	switch t := s["type"].(type) {
	case string:
		if t == "integer" {
			s["type"] = "number"
		}
	case []any:
		for i := range t {
			if t[i] == "integer" {
				t[i] = "number"
			}
		}
	}
}

// unions are definitions that carry a method only because they have one member.
var unions = map[string]bool{
	"ClientRequest": true, "ClientNotification": true, "ServerRequest": true, "ServerNotification": true,
}

// index finds out which definition is that of a method, a result, an error.
func (s *schema) index(defs map[string]any) {
	for name := range defs {
		s.names[name] = true
	}
	for name, def := range defs {
		method := constant(def, "properties", "method", "const")
		if method, ok := method.(string); ok && !unions[name] {
			s.requests[method] = name
			if result, ok := strings.CutSuffix(name, "Request"); ok {
				s.results[method] = s.first(result+"Result", "EmptyResult")
			}
		}
		parts, _ := constant(def, "properties", "error", "allOf").([]any)
		for _, part := range parts {
			if code, ok := constant(part, "properties", "code", "const").(json.Number); ok {
				if n, err := code.Int64(); err == nil {
					s.errors[n] = name
				}
			}
		}
	}
}

// constant follows members down.
func constant(v any, path ...string) any {
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

// first returns the first name that the schema defines.
func (s *schema) first(names ...string) string {
	for _, n := range names {
		if s.names[n] {
			return n
		}
	}
	return ""
}

// validate checks value against a definition.
func (s *schema) validate(def string, value any) error {
	c := s.compiled[def]
	if c == nil {
		var err error
		if c, err = s.compiler.Compile(s.url + "#/" + s.defs + "/" + def); err != nil {
			return err
		}
		s.compiled[def] = c
	}
	err := c.Validate(value)
	var invalid *jsonschema.ValidationError
	if errors.As(err, &invalid) {
		return fmt.Errorf("is no %s: %s", def, strings.Join(causes(invalid, nil), "; "))
	}
	return err
}

// maxCauses bounds what is said about one message.
const maxCauses = 4

// causes returns the innermost reasons: the outer ones only repeat them.
func causes(e *jsonschema.ValidationError, out []string) []string {
	if len(e.Causes) == 0 && len(out) < maxCauses {
		return append(out, "/"+strings.Join(e.InstanceLocation, "/")+": "+e.ErrorKind.LocalizedString(english))
	}
	for _, c := range e.Causes {
		out = causes(c, out)
	}
	return out
}
