package schema

import (
	"bytes"
	"errors"
	"fmt"

	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Bounds of a schema (W25.5). What a schema makes the checker do grows with
// its parts, so they are counted where a schema is accepted, once.
const (
	MaxBytes = 256 << 10
	MaxDepth = 64
	MaxParts = 4096
)

// Schema is a compiled schema. It may be used concurrently.
type Schema struct {
	raw      []byte
	compiled *validator.Schema
	object   bool
	defaults []property
	quick    *quick
	// deepest is how deeply a value may be nested.
	deepest int
	// reach is into how many levels of a value it looks.
	reach int
}

// Option changes how a schema is compiled.
type Option func(*validator.Compiler)

// AssertFormats makes formats (email, uri, date…) count; otherwise they are
// annotations, as the dialect says.
func AssertFormats(c *validator.Compiler) { c.AssertFormat() }

// Compile reads a schema. It fails when the bytes are no schema of a known
// dialect, refer to another document, or exceed a bound. Patterns are regular
// expressions without backtracking: one with a look-around is refused here.
func Compile(raw []byte, options ...Option) (*Schema, error) {
	if err := measure(raw); err != nil {
		return nil, err
	}
	doc, err := validator.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	c := validator.NewCompiler()
	c.DefaultDraft(validator.Draft2020)
	c.UseLoader(nothing{})
	for _, o := range options {
		o(c)
	}
	if err := c.AddResource(location, doc); err != nil {
		return nil, explained(err)
	}
	compiled, err := c.Compile(location)
	if err != nil {
		return nil, explained(err)
	}
	outline := outlineOf(raw)
	branches, err := outline.branching()
	if err != nil {
		return nil, err
	}
	s := &Schema{raw: bytes.Clone(raw), compiled: compiled, deepest: levels(branches), reach: outline.reach()}
	kind, _ := strictjson.Get(raw, "type")
	text, _ := strictjson.String(kind)
	s.object = text == "object"
	s.defaults = defaultsOf(s.raw)
	s.quick = quickOf(s.raw)
	return s, nil
}

// Raw is the schema as it was given; read-only.
func (s *Schema) Raw() []byte { return s.raw }

// Object reports whether the root's type is object and nothing else.
func (s *Schema) Object() bool { return s.object }

// Validate checks a JSON value. The error is an *Invalid.
func (s *Schema) Validate(value []byte) error {
	if s.quick.accepts(value) {
		return nil
	}
	decoded, err := decode(value, s.reach)
	if err != nil {
		return &Invalid{Problems: []Problem{{Message: "is not JSON"}}}
	}
	if s.deepest < strictjson.MaxDepth && depth(decoded) > s.deepest {
		return &Invalid{Problems: []Problem{{Message: fmt.Sprintf("is nested more than %d deep, which this schema does not allow", s.deepest)}}}
	}
	err = s.compiled.Validate(decoded)
	if err == nil {
		return nil
	}
	var failed *validator.ValidationError
	if errors.As(err, &failed) {
		return invalid(failed)
	}
	return &Invalid{Problems: []Problem{{Message: err.Error()}}}
}

// location is what a schema without an $id is called in references.
const location = "mem:///schema.json"

// nothing is the loader: it has no document to give.
type nothing struct{}

var errTrailing = errors.New("text follows the value")

var errLoad = errors.New("not in this schema, and nothing is loaded")

func (nothing) Load(string) (any, error) { return nil, errLoad }

func explained(err error) error {
	var load *validator.LoadURLError
	if errors.As(err, &load) {
		return fmt.Errorf("schema: %s: %w", load.URL, errLoad)
	}
	return fmt.Errorf("schema: %w", err)
}
