package schema_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/schema"
)

type inner struct {
	Key string `json:"key"`
}

type everything struct {
	Name   string           `json:"name" jsonschema:"who it is" schema:"min=1,max=9,pattern=^[a-z\\,]+$,title=The name"`
	Count  int              `json:"count,omitempty" schema:"min=1,max=3,default=2"`
	Ratio  *float64         `json:"ratio,omitempty"`
	Kind   string           `json:"kind,omitempty" schema:"enum=a|b\\|c,default=a"`
	Titled string           `json:"titled,omitempty" schema:"enum=x|y,titles=X|Y"`
	Many   []string         `json:"many,omitempty" schema:"enum=s|m,min=1,max=2"`
	Both   []string         `json:"both,omitempty" schema:"enum=s|m,titles=Small|Medium"`
	Blob   []byte           `json:"blob,omitempty"`
	When   time.Time        `json:"when,omitzero"`
	Any    any              `json:"any,omitempty"`
	Raw    json.RawMessage  `json:"raw,omitempty"`
	Map    map[string]inner `json:"map,omitempty"`
	List   []inner          `json:"list,omitempty"`
	Pair   [2]int           `json:"pair,omitempty"`
	Region string           `json:"region,omitempty" schema:"header=Region"`
	Choice int              `json:"choice,omitempty" schema:"enum=1|2"`
	hidden string           //nolint:unused // it must not show
	Out    string           `json:"-"`
	inner
}

func compiled(t *testing.T, raw string, options ...schema.Option) *schema.Schema {
	t.Helper()
	s, err := schema.Compile([]byte(raw), options...)
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return s
}

func TestASchemaOfAType(t *testing.T) {
	raw, err := schema.For[everything]()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Type                 string
		Required             []string
		AdditionalProperties json.RawMessage
		Properties           map[string]json.RawMessage
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if got.Type != "object" || fmt.Sprint(got.Required) != "[name key]" || string(got.AdditionalProperties) != "false" {
		t.Errorf("got %s", raw)
	}
	for name, want := range map[string]string{
		"name":   `{"type":"string","title":"The name","description":"who it is","minLength":1,"maxLength":9,"pattern":"^[a-z,]+$"}`,
		"count":  `{"type":"integer","default":2,"minimum":1,"maximum":3}`,
		"ratio":  `{"type":["null","number"]}`,
		"kind":   `{"type":"string","default":"a","enum":["a","b|c"]}`,
		"titled": `{"type":"string","oneOf":[{"title":"X","const":"x"},{"title":"Y","const":"y"}]}`,
		"many":   `{"type":"array","items":{"type":"string","enum":["s","m"]},"minItems":1,"maxItems":2}`,
		"both":   `{"type":"array","items":{"anyOf":[{"title":"Small","const":"s"},{"title":"Medium","const":"m"}]}}`,
		"blob":   `{"type":"string","contentEncoding":"base64"}`,
		"when":   `{"type":"string","format":"date-time"}`,
		"any":    `true`, "raw": `true`,
		"list":   `{"type":"array","items":{"type":"object","properties":{"key":{"type":"string"}},"required":["key"],"additionalProperties":false}}`,
		"region": `{"type":"string","x-mcp-header":"Region"}`,
		"choice": `{"type":"integer","enum":[1,2]}`,
		"key":    `{"type":"string"}`,
	} {
		if !sameJSON(got.Properties[name], want) {
			t.Errorf("%s: got %s, want %s", name, got.Properties[name], want)
		}
	}
	for _, absent := range []string{"hidden", "Out", "out"} {
		if got.Properties[absent] != nil {
			t.Errorf("%s is there", absent)
		}
	}
	if _, err := schema.Compile(raw); err != nil {
		t.Error(err) // W25.2
	}
}

func sameJSON(a json.RawMessage, b string) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	left, _ := json.Marshal(x)
	right, _ := json.Marshal(y)
	return string(left) == string(right)
}

type loop struct {
	Next *loop `json:"next"`
}

func TestTypesAndTagsThatMakeNoSchema(t *testing.T) {
	for name, make := range map[string]func() (json.RawMessage, error){
		"a func": schema.For[struct{ F func() }],
		"a loop": schema.For[loop],
		"an unknown word": schema.For[struct {
			A int `schema:"least=1"`
		}],
		"a word alone": schema.For[struct {
			A int `schema:"min"`
		}],
		"a bound of words": schema.For[struct {
			A int `schema:"min=x"`
		}],
		"a default of words": schema.For[struct {
			A int `schema:"default=x"`
		}],
		"a choice of words": schema.For[struct {
			A int `schema:"enum=x"`
		}],
		"too few titles": schema.For[struct {
			A string `schema:"enum=x|y,titles=X"`
		}],
	} {
		if raw, err := make(); err == nil {
			t.Errorf("%s: %s", name, raw)
		}
	}
}

// W25.1, W25.2, W25.3, W25.4, W25.5
func TestWhatIsNoSchemaIsRefused(t *testing.T) {
	asked := 0
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		_, _ = w.Write([]byte(`{}`))
	}))
	defer ts.Close()
	parts := strings.Repeat(`{},`, schema.MaxParts) + `{}`
	for name, raw := range map[string]string{
		"no JSON":                `{`,
		"a type of numbers":      `{"type":5}`,
		"a keyword twice":        `{"type":"object","type":"string"}`,
		"an unknown dialect":     `{"$schema":"https://example.com/own"}`,
		"a reference over http":  `{"$ref":"` + ts.URL + `/s.json"}`,
		"a reference by base":    `{"$id":"` + ts.URL + `/a","properties":{"x":{"$ref":"b"}}}`,
		"a dynamic reference":    `{"$dynamicRef":"` + ts.URL + `/s.json#x"}`,
		"a dialect over http":    `{"$schema":"` + ts.URL + `/meta"}`,
		"a file":                 `{"$ref":"file:///etc/passwd"}`,
		"a reference to nothing": `{"$ref":"#/$defs/none"}`,
		"a pattern that is none": `{"pattern":"("}`,
		"a look-around":          `{"pattern":"(?=x)y"}`,
		"deeper than it may be":  strings.Repeat(`{"not":`, 70) + `{}` + strings.Repeat(`}`, 70),
		"more than it may be":    `{"allOf":[` + parts + `]}`,
		"larger than it may be":  `{"description":"` + strings.Repeat("x", schema.MaxBytes) + `"}`,
	} {
		if _, err := schema.Compile([]byte(raw)); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	if asked != 0 {
		t.Errorf("%d documents were fetched", asked)
	}
	for _, dialect := range []string{"", `"$schema":"https://json-schema.org/draft/2020-12/schema",`, `"$schema":"http://json-schema.org/draft-07/schema#",`} {
		compiled(t, `{`+dialect+`"type":"object","$defs":{"a":{"type":"string"}},"properties":{"a":{"$ref":"#/$defs/a"}}}`)
	}
}

func TestValuesThatDoNotFitAreToldReadably(t *testing.T) {
	s := compiled(t, `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"array","items":{"type":"integer","minimum":1}},"c":{"enum":["x","y"]}},"required":["a"],"additionalProperties":false}`)
	for value, want := range map[string]string{
		`{"a":"x","b":[1]}`:       "",
		`{"a":5}`:                 "/a: got number, want string",
		`{}`:                      "missing property 'a'",
		`{"a":"x","b":[1,0,"x"]}`: "/b/1: minimum: got 0, want 1\n/b/2: got string, want integer",
		`{"a":"x","z":1}`:         "additional properties 'z' not allowed",
		`{"a":"x","c":"q"}`:       "/c: value must be one of 'x', 'y'",
		`[]`:                      "got array, want object",
		`{`:                       "is not JSON",
	} {
		err := s.Validate([]byte(value))
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", value, got, want)
		}
		var invalid *schema.Invalid
		if err != nil && !errors.As(err, &invalid) {
			t.Errorf("%s: %T", value, err)
		}
	}
	err := s.Validate([]byte(`{"a":"x","b":[` + strings.Repeat(`0,`, 1000) + `0]}`))
	var invalid *schema.Invalid
	if !errors.As(err, &invalid) || len(invalid.Problems) != schema.MaxProblems || !invalid.More {
		t.Errorf("1001 problems: %v", err)
	}
	if err := s.Validate([]byte(`{"a":"x","c":"` + strings.Repeat("é", 10000) + `"}`)); len(err.Error()) > 1000 {
		t.Errorf("%d bytes of error", len(err.Error()))
	}
}

// W25.5: what a schema can make the checker do is bounded, however it is
// written.
func TestSchemasThatWouldTakeForEverAreRefused(t *testing.T) {
	chain := func(n int, def string) string {
		var b strings.Builder
		b.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
		for i := range n {
			fmt.Fprintf(&b, `"d%d":%s,`, i, strings.ReplaceAll(def, "NEXT", fmt.Sprintf("#/$defs/d%d", i+1)))
		}
		fmt.Fprintf(&b, `"d%d":true}}`, n)
		return b.String()
	}
	for name, raw := range map[string]string{
		"a chain that doubles":      chain(40, `{"allOf":[{"$ref":"NEXT"},{"$ref":"NEXT"}]}`),
		"a choice that doubles":     chain(40, `{"anyOf":[{"$ref":"NEXT"},{"not":{"$ref":"NEXT"}}]}`),
		"conditions that double":    chain(40, `{"if":{"$ref":"NEXT"},"then":{"$ref":"NEXT"},"else":{"$ref":"NEXT"}}`),
		"doubling behind an anchor": strings.ReplaceAll(chain(40, `{"$anchor":"aI","allOf":[{"$ref":"NEXT"},{"$ref":"NEXT"}]}`), `"$anchor":"aI",`, ""),
	} {
		if _, err := schema.Compile([]byte(raw)); !errors.Is(err, schema.ErrCostly) {
			t.Errorf("%s: %v", name, err)
		}
	}
	compiled(t, chain(40, `{"allOf":[{"$ref":"NEXT"}]}`))
	compiled(t, chain(10, `{"allOf":[{"$ref":"NEXT"},{"$ref":"NEXT"}]}`))
	nested := func(n int) []byte { return []byte(strings.Repeat(`{"a":[`, n) + `1` + strings.Repeat(`]}`, n)) }
	for name, c := range map[string]struct {
		raw  string
		deep bool // it takes deep values
	}{
		"recursion":                     {`{"properties":{"a":{"items":{"$ref":"#"}}}}`, true},
		"recursion by one way of two":   {`{"anyOf":[{"type":"number"},{"properties":{"a":{"items":{"$ref":"#"}}}}]}`, true},
		"recursion that doubles":        {`{"properties":{"a":{"items":{"allOf":[{"$ref":"#"},{"$ref":"#"}]}}}}`, false},
		"recursion by both of two ways": {`{"anyOf":[{"properties":{"a":{"items":{"$ref":"#"}}}},{"additionalProperties":{"items":{"$ref":"#"}}}]}`, false},
		"recursion by two groups":       {`{"properties":{"a":{"items":{"$ref":"#"}}},"patternProperties":{"a":{"items":{"$ref":"#"}}}}`, false},
		"a resource inside":             {`{"$ref":"#/$defs/x","$defs":{"x":{"$id":"https://example.com/x","properties":{"a":{"items":{"anyOf":[{"$ref":"#"},{"$ref":"x"}]}}}}}}`, false},
		"an anchor":                     {`{"$ref":"#x","$defs":{"x":{"$anchor":"x","properties":{"a":{"items":{"anyOf":[{"$ref":"#x"},{"$ref":"#x"}]}}}}}}`, false},
	} {
		s := compiled(t, c.raw)
		if err := s.Validate(nested(3)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := s.Validate(nested(60)); (err == nil) != c.deep {
			t.Errorf("%s of 120 levels: %v", name, err)
		}
	}
}

func TestFormatsCountWhenAsked(t *testing.T) {
	raw := `{"type":"string","format":"email"}`
	if err := compiled(t, raw).Validate([]byte(`"x"`)); err != nil {
		t.Error(err)
	}
	if err := compiled(t, raw, schema.AssertFormats).Validate([]byte(`"x"`)); err == nil {
		t.Error("x is no mail address")
	}
}

func TestDefaults(t *testing.T) {
	s := compiled(t, `{"type":"object","properties":{"a":{"default":1},"b":{"default":{"x":[]}},"c":{}}}`)
	for value, want := range map[string]string{
		`{}`: `{"a":1,"b":{"x":[]}}`, `{"a":null,"c":2}`: `{"a":null,"c":2,"b":{"x":[]}}`, `{"a":1,"b":2}`: `{"a":1,"b":2}`, `[]`: `[]`, `5`: `5`,
	} {
		if got := string(s.WithDefaults([]byte(value))); got != want {
			t.Errorf("%s: got %s, want %s", value, got, want)
		}
	}
	if !s.Object() || compiled(t, `{"type":["object","null"]}`).Object() || compiled(t, `true`).Object() {
		t.Error("Object")
	}
}

func FuzzCompile(f *testing.F) {
	for _, seed := range []string{`{}`, `true`, `{"type":"object","properties":{"a":{"$ref":"#/$defs/b"}},"$defs":{"b":{"default":1}}}`, `{"$ref":"#"}`, `{"$id":"x","$anchor":"y","$dynamicRef":"#y"}`,
		`{"pattern":"^a+$","if":{"const":1},"then":false}`, `{"$schema":"http://json-schema.org/draft-04/schema#","id":"q"}`, `{"$ref":"http://x/y"}`} {
		f.Add(seed, `{"a":1}`)
	}
	f.Fuzz(func(t *testing.T, raw, value string) {
		s, err := schema.Compile([]byte(raw))
		if err != nil {
			return
		}
		if err := s.Validate([]byte(value)); err != nil && err.Error() == "" {
			t.Error("an error without words")
		}
		if got := s.WithDefaults([]byte(value)); json.Valid([]byte(value)) && !json.Valid(got) {
			t.Errorf("%s with defaults of %s: %s", value, raw, got)
		}
	})
}

func BenchmarkValidate(b *testing.B) {
	raw, err := schema.For[struct {
		City string `json:"city"`
		Days int    `json:"days,omitempty"`
	}]()
	if err != nil {
		b.Fatal(err)
	}
	s, err := schema.Compile(raw)
	if err != nil {
		b.Fatal(err)
	}
	value := []byte(`{"city":"Oslo","days":3}`)
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Validate(value); err != nil {
			b.Fatal(err)
		}
	}
}
