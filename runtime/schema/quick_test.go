package schema

import (
	"testing"
)

func TestQuickOnlySaysYesToWhatFits(t *testing.T) {
	s, err := Compile([]byte(`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","title":"T","properties":{"s":{"type":"string"},"e":{"type":"string","enum":["a","b"]},"n":{"type":"number","description":"d"},"i":{"type":"integer"},"b":{"type":"boolean"},"x":true,"deep":{"type":"object"}},"required":["s","i"],"additionalProperties":false}`))
	if err != nil || s.quick == nil {
		t.Fatal(err, s)
	}
	for value, want := range map[string]bool{
		`{"s":"x","i":1}`: true, ` { "s" : "" , "i" : -5, "e":"b", "n":1.5e3, "b":true, "x":[{}] } `: true, `{"s":"x","i":1,"s":"y"}`: true,
		`{"s":"x"}`: false, `{"i":1}`: false, `{"s":1,"i":1}`: false, `{"s":"x","i":1.0}`: false, `{"s":"x","i":"1"}`: false, `{"s":"x","i":1,"e":"c"}`: false,
		`{"s":"x","i":1,"other":1}`: false, `{"s":"x","i":1,"b":null}`: false, `{"s":"x","i":1,"deep":{}}`: false, `{"s":"x","i":1}{}`: false, `{"s":"x","i":1`: false,
		`{"\u0073":"x","i":1}`: false, `[]`: false, `null`: false, ``: false, `{"s":"x","i":1,"n":true}`: false,
	} {
		if got := s.quick.accepts([]byte(value)); got != want {
			t.Errorf("%s: got %v", value, got)
		}
	}
	for _, raw := range []string{`true`, `{"type":"string"}`, `{"type":"object","required":["a"]}`, `{"type":"object","minProperties":1}`, `{"type":"object","additionalProperties":{}}`, `{"type":"object","properties":5,"allOf":[{}]}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}`} {
		if quickOf([]byte(raw)) != nil {
			t.Errorf("%s has a quick form", raw)
		}
	}
}

// FuzzQuick: what quick accepts, the whole checker accepts.
func FuzzQuick(f *testing.F) {
	for _, raw := range []string{`{"type":"object","properties":{"a":{"type":"string","enum":["x"]},"b":{"type":"integer"}},"required":["a"],"additionalProperties":false}`, `{"properties":{"a":{"type":"number"}}}`, `{"type":"object","enum":[{}]}`} {
		for _, value := range []string{`{"a":"x","b":1}`, `{"a":1e5}`, `{"a":"\ud800"}`, `5`} {
			f.Add(raw, value)
		}
	}
	f.Fuzz(func(t *testing.T, raw, value string) {
		s, err := Compile([]byte(raw))
		if err != nil || !s.quick.accepts([]byte(value)) {
			return
		}
		s.quick = nil
		if err := s.Validate([]byte(value)); err != nil {
			t.Errorf("%s fits %s, but: %v", value, raw, err)
		}
	})
}
