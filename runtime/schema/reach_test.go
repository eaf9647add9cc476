package schema

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// P18: how far a schema looks.
func TestReach(t *testing.T) {
	for raw, want := range map[string]int{
		`{}`:   1,
		`true`: 1,
		`{"type":"object","properties":{"text":{"type":"string"}}}`:                                       2,
		`{"items":{"properties":{"a":{"maxItems":3}}}}`:                                                   3,
		`{"anyOf":[{"type":"string"},{"items":{"items":true}}]}`:                                          3,
		`{"properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"items":{}},"y":{"items":{"items":{}}}}}`: 3,
		`{"properties":{"a":{"$ref":"#"}}}`:                                                               everything,
		`{"properties":{"a":{"$ref":"https://json-schema.org/draft/2020-12/schema"}}}`:                    everything,
		`{"$dynamicAnchor":"n","properties":{"a":{"$dynamicRef":"#n"}}}`:                                  everything,
		`{"properties":{"a":{"uniqueItems":true}}}`:                                                       everything,
		`{"properties":{"a":{"uniqueItems":false}}}`:                                                      2,
		`{"const":{"a":1}}`:     everything,
		`{"enum":["a",1,null]}`: 1,
		`{"enum":["a",[]]}`:     everything,
		`{"properties":{"a":{"x":1}},"patternProperties":{"b":{"contains":{}}},"unevaluatedProperties":true}`: 3,
	} {
		s, err := Compile([]byte(raw))
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		if s.reach != want {
			t.Errorf("%s: %d, want %d", raw, s.reach, want)
		}
	}
}

// P18: what no schema looks at takes no memory worth mentioning: 4 MiB of
// brackets were 90 MiB of Go values.
func TestWhatIsNotLookedAtIsNotDecoded(t *testing.T) {
	s, err := Compile([]byte(`{"type":"object","properties":{"text":{"type":"string"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	unit := strings.Repeat("[", 100) + strings.Repeat("]", 100) + ","
	value := []byte(`{"text":[` + strings.Repeat(unit, 1000) + `0]}`)
	_ = s.Validate(value)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err = s.Validate(value)
	runtime.ReadMemStats(&after)
	if err == nil || err.Error() != "/text: got array, want string" {
		t.Errorf("got %v", err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 5*uint64(len(value)) {
		t.Errorf("%d bytes for a value of %d", n, len(value))
	}
}

// FuzzReach: what is not decoded changes neither the verdict nor its words.
func FuzzReach(f *testing.F) {
	deep := `{"a":[[{"b":[1,[2,{"c":[]}]]},7]],"b":{"c":{"d":[0]}},"c":"x"}`
	for _, raw := range []string{
		`{"type":"object","properties":{"a":{"type":"string"}}}`,
		`{"properties":{"a":{"items":{"type":"object"}},"b":{"required":["x"],"additionalProperties":false}}}`,
		`{"additionalProperties":{"anyOf":[{"type":"string"},{"minItems":2},{"propertyNames":{"maxLength":1}}]}}`,
		`{"properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"items":{"maxItems":0}}}}`,
		`{"properties":{"a":{"const":[[]]},"b":{"enum":[{}]}},"unevaluatedProperties":{"minProperties":9}}`,
		`{"if":{"properties":{"a":{"contains":{"minItems":2}}}},"then":false,"else":{"not":{}}}`,
		`{"patternProperties":{".":{"prefixItems":[{"uniqueItems":true}],"items":{"type":"array"}}}}`,
		`{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"a":{"items":[{}],"additionalItems":{"minItems":1}}},"dependencies":{"a":["z"],"b":{"properties":{"b":{"maxProperties":0}}}}}`,
	} {
		f.Add(raw, deep)
		f.Add(raw, `[[[[]]],{"a":{}}]`)
	}
	f.Fuzz(func(t *testing.T, raw, value string) {
		s, err := Compile([]byte(raw))
		if err != nil {
			return
		}
		short, whole := *s, *s
		short.quick, whole.quick, whole.reach = nil, nil, everything
		got, want := problems(short.Validate([]byte(value))), problems(whole.Validate([]byte(value)))
		if !slices.Equal(got, want) {
			t.Errorf("%s\n%s\ngot  %q\nwant %q", raw, value, got, want)
		}
	})
}

// problems of an error, as far as they do not depend on the order of members.
func problems(err error) (out []string) {
	var invalid *Invalid
	if !errors.As(err, &invalid) {
		return nil
	}
	if invalid.More {
		return []string{"many"}
	}
	for _, p := range invalid.Problems {
		out = append(out, p.Path+": "+p.Message)
	}
	slices.Sort(out)
	return out
}
