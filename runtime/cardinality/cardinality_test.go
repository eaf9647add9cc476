package cardinality_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/fairlead-dev/fairlead/runtime/cardinality"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type block struct {
	Text string `json:"text"`
}

func TestTypesReadBothFormsAndWriteTheirOwn(t *testing.T) {
	type message struct {
		List cardinality.List[block]      `json:"list"`
		One  cardinality.One[block]       `json:"one"`
		Any  cardinality.OneOrMore[block] `json:"any"`
	}
	for name, tc := range map[string]struct{ in, list, one, any string }{
		"a value":     {`{"text":"a"}`, `[{"text":"a"}]`, `{"text":"a"}`, `{"text":"a"}`},
		"a list of 1": {`[{"text":"a"}]`, `[{"text":"a"}]`, `{"text":"a"}`, `{"text":"a"}`},
		"a list of 2": {`[{"text":"a"},{"text":"b"}]`, `[{"text":"a"},{"text":"b"}]`, `{"text":"a"}`, `[{"text":"a"},{"text":"b"}]`},
		"none":        {`[]`, `[]`, "", `[]`},
		"null":        {`null`, `[]`, `{"text":""}`, `[]`},
		"another":     {`"x"`, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			for member, want := range map[string]string{"list": tc.list, "one": tc.one, "any": tc.any} {
				var m message
				err := json.Unmarshal([]byte(`{"`+member+`":`+tc.in+`}`), &m)
				if (err == nil) != (want != "") {
					t.Fatalf("%s: %v", member, err)
				}
				if err != nil {
					continue
				}
				encoded, err := json.Marshal(m)
				if err != nil {
					t.Fatal(err)
				}
				if got, _ := strictjson.Get(encoded, member); string(got) != want {
					t.Errorf("%s: got %s, want %s", member, got, want)
				}
			}
		})
	}
	var one cardinality.One[block]
	if err := json.Unmarshal([]byte(`[{"text":"a"},{"text":"b"}]`), &one); err != nil || len(one.Rest) != 1 || one.Rest[0].Text != "b" {
		t.Errorf("%+v, %v", one, err)
	}
	if err := json.Unmarshal([]byte(`[]`), &one); !errors.Is(err, cardinality.ErrEmpty) {
		t.Error(err)
	}
}

// views are the raw views by name; "L" are those for a receiver of lists.
var views = map[string]func([]byte) ([]byte, bool, error){
	"tool":    cardinality.ToolResult,
	"read":    cardinality.ReadResult,
	"prompt":  cardinality.PromptResult,
	"ask":     func(raw []byte) ([]byte, bool, error) { return cardinality.SamplingRequest(raw, false) },
	"askL":    func(raw []byte) ([]byte, bool, error) { return cardinality.SamplingRequest(raw, true) },
	"answer":  func(raw []byte) ([]byte, bool, error) { return cardinality.SamplingResult(raw, false) },
	"answerL": func(raw []byte) ([]byte, bool, error) { return cardinality.SamplingResult(raw, true) },
}

// R8, W29.8, B14.6
func TestMessagesBecomeWhatTheSpecificationHas(t *testing.T) {
	const same = "="
	for name, tc := range map[string]struct{ view, in, want string }{
		"a tool's content is a list":           {"tool", ` {"z":1.0, "content" : [ {"type":"text"} ] } `, same},
		"a tool's content came bare":           {"tool", `{"z":1.0,"content":{"type":"text","text":"é"},"isError":false}`, `{"z":1.0,"content":[{"type":"text","text":"é"}],"isError":false}`},
		"a tool without content":               {"tool", `{"isError":true}`, `{"isError":true,"content":[]}`},
		"a tool with null":                     {"tool", `{"content":null}`, `{"content":[]}`},
		"structured content alone":             {"tool", `{"structuredContent":{"a":"\"b"}}`, `{"structuredContent":{"a":"\"b"},"content":[{"type":"text","text":"{\"a\":\"\\\"b\"}"}]}`},
		"a resource in a list":                 {"tool", `{"content":[{"type":"text"},{"type":"resource","resource":[{"uri":"a"},{"uri":"b"}],"x":1}]}`, `{"content":[{"type":"text"},{"type":"resource","resource":{"uri":"a"},"x":1}]}`},
		"a resource in an empty list":          {"tool", `{"content":[{"type":"resource","resource":[]}]}`, "!empty"},
		"a tool's result that is none":         {"tool", `[]`, "!shape"},
		"contents came bare":                   {"read", `{"contents":{"uri":"a"}}`, `{"contents":[{"uri":"a"}]}`},
		"contents are a list":                  {"read", `{"contents":[]}`, same},
		"no contents":                          {"read", `{}`, same},
		"contents that are null":               {"read", `{"contents":null}`, `{"contents":[]}`},
		"a prompt as it should be":             {"prompt", `{"messages":[{"role":"user","content":{"type":"text"}}]}`, same},
		"a prompt's content in a list":         {"prompt", `{"messages":[{"role":"user","content":[{"type":"text"}]}]}`, `{"messages":[{"role":"user","content":{"type":"text"}}]}`},
		"a prompt with several blocks":         {"prompt", `{"d":1,"messages":[{"content":[{"t":1},{"t":2},{"t":3}],"role":"user","x":9},{"role":"assistant","content":{"t":4}}]}`, `{"d":1,"messages":[{"content":{"t":1},"role":"user","x":9},{"role":"user","content":{"t":2}},{"role":"user","content":{"t":3}},{"role":"assistant","content":{"t":4}}]}`},
		"a prompt with a bare message":         {"prompt", `{"messages":{"role":"user","content":{"t":1}}}`, `{"messages":[{"role":"user","content":{"t":1}}]}`},
		"a prompt's resource in a list":        {"prompt", `{"messages":[{"role":"user","content":{"type":"resource","resource":[{"uri":"a"}]}}]}`, `{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"a"}}}]}`},
		"a prompt's content is empty":          {"prompt", `{"messages":[{"role":"user","content":[]}]}`, "!empty"},
		"a message that is none":               {"prompt", `{"messages":["x",{"role":"user"}]}`, same},
		"a question for who reads no lists":    {"ask", `{"messages":[{"role":"user","content":[{"t":1},{"t":2}]}],"maxTokens":1}`, `{"messages":[{"role":"user","content":{"t":1}},{"role":"user","content":{"t":2}}],"maxTokens":1}`},
		"a question for who reads lists":       {"askL", `{"messages":[{"role":"user","content":[{"t":1},{"t":2}]}]}`, same},
		"a resource in a question's list":      {"askL", `{"messages":[{"role":"user","content":[{"resource":[{"uri":"a"}]}]}]}`, `{"messages":[{"role":"user","content":[{"resource":{"uri":"a"}}]}]}`},
		"an answer in a list of one":           {"answer", `{"role":"assistant","content":[{"t":1}],"model":"m"}`, `{"role":"assistant","content":{"t":1},"model":"m"}`},
		"an answer of several, nowhere to go":  {"answer", `{"content":[{"t":1},{"t":2}]}`, "!many"},
		"an answer of none":                    {"answer", `{"content":[]}`, "!empty"},
		"an answer for who reads lists":        {"answerL", `{"content":[{"t":1},{"t":2}]}`, same},
		"an answer as it should be":            {"answer", `{"content":{"t":1}}`, same},
		"an answer that is none":               {"answer", `1`, "!shape"},
		"a role that is longer than any other": {"prompt", `{"messages":[{"role":"` + strings.Repeat("x", 100) + `","content":[1,2]}]}`, "!shape"},
	} {
		t.Run(name, func(t *testing.T) {
			in := []byte(tc.in)
			out, changed, err := views[tc.view](in)
			got := string(out)
			switch {
			case errors.Is(err, cardinality.ErrEmpty):
				got = "!empty"
			case errors.Is(err, cardinality.ErrMany):
				got = "!many"
			case errors.Is(err, cardinality.ErrShape):
				got = "!shape"
			case !changed && bytes.Equal(out, in):
				got = same
			}
			if got != tc.want || err != nil && !bytes.Equal(out, in) || string(in) != tc.in {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
			if changed {
				if _, twice, err := views[tc.view](out); twice || err != nil {
					t.Errorf("what came out was changed again, %v", err)
				}
			}
		})
	}
}

func TestItems(t *testing.T) {
	for in, want := range map[string]string{``: "[]", `null`: "[]", `[]`: "[]", ` [1, {"a":2} ]`: `[1 {"a":2}]`, `{"a":1}`: `[{"a":1}]`} {
		var got []string
		for _, item := range cardinality.Items([]byte(in)) {
			got = append(got, string(item))
		}
		if diff := cmp.Diff(want, fmt.Sprint(got)); diff != "" {
			t.Errorf("%s: %s", in, diff)
		}
	}
}

// Splitting a message costs about what it brought.
func TestSplittingDoesNotAmplify(t *testing.T) {
	in := []byte(`{"messages":[{"role":"user","_meta":"` + strings.Repeat("m", 100_000) + `","content":[` + strings.Repeat(`1,`, 10_000) + `1]}]}`)
	out, _, err := cardinality.PromptResult(in)
	if err != nil || len(out) > 5*len(in) {
		t.Errorf("%d bytes became %d, %v", len(in), len(out), err)
	}
}

func FuzzViews(f *testing.F) {
	for _, seed := range []string{`{"content":{"type":"text"}}`, `{"messages":[{"role":"u","content":[1,{"resource":[2]}]}]}`, `{"contents":null}`, `{"structuredContent":1}`, `{"content":[{"resource":[]}]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if strictjson.Scan(in, strictjson.FromClient) != nil {
			return
		}
		for name, view := range views {
			before := bytes.Clone(in)
			out, changed, err := view(in)
			if !bytes.Equal(in, before) {
				t.Fatalf("%s changed its input", name)
			}
			if err != nil || !changed {
				if !bytes.Equal(out, in) {
					t.Fatalf("%s: %q without a word", name, out)
				}
				continue
			}
			if err := strictjson.Scan(out, strictjson.FromWorkload); err != nil {
				t.Fatalf("%s made %q of %q: %v", name, out, in, err)
			}
			if _, again, err := view(out); again || err != nil {
				t.Fatalf("%s: %q is not settled: %v", name, out, err)
			}
		}
	})
}

func ExampleToolResult() {
	out, _, _ := cardinality.ToolResult([]byte(`{"content":{"type":"text","text":"hi"}}`))
	fmt.Println(string(out))
	// Output: {"content":[{"type":"text","text":"hi"}]}
}
