package strictjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

func path(p string) []string { return strings.Split(p, "/") }

// P26: only the edited members change.
func TestSplice(t *testing.T) {
	set := func(p, v string) strictjson.Edit { return strictjson.Set([]byte(v), path(p)...) }
	del := func(p string) strictjson.Edit { return strictjson.Delete(path(p)...) }
	tests := map[string]struct {
		in    string
		edits []strictjson.Edit
		want  string
		err   error
	}{
		"replace keeps the place":            {`{ "a" : 1 , "b":2}`, []strictjson.Edit{set("a", `"x"`)}, `{ "a" : "x" , "b":2}`, nil},
		"replace keeps number spelling":      {`{"n":1.0,"e":1E2,"a":0}`, []strictjson.Edit{set("a", "1")}, `{"n":1.0,"e":1E2,"a":1}`, nil},
		"replace an escaped name":            {`{"\u0061":1}`, []strictjson.Edit{set("a", "2")}, `{"\u0061":2}`, nil},
		"add to an empty object":             {`{ }`, []strictjson.Edit{set("a", "1")}, `{"a":1 }`, nil},
		"add at the end":                     {"{\"a\":1\n}", []strictjson.Edit{set("b", "2")}, "{\"a\":1,\"b\":2\n}", nil},
		"add a name that needs escapes":      {`{}`, []strictjson.Edit{set("a\"b", "1")}, `{"a\"b":1}`, nil},
		"add several in order":               {`{}`, []strictjson.Edit{set("a", "1"), set("b", "2")}, `{"a":1,"b":2}`, nil},
		"delete the only one":                {`{ "a":1 }`, []strictjson.Edit{del("a")}, `{  }`, nil},
		"delete the first":                   {`{"a":1, "b":2}`, []strictjson.Edit{del("a")}, `{"b":2}`, nil},
		"delete the middle":                  {`{"a":1, "b":2, "c":3}`, []strictjson.Edit{del("b")}, `{"a":1, "c":3}`, nil},
		"delete the last":                    {`{"a":1, "b":2 }`, []strictjson.Edit{del("b")}, `{"a":1 }`, nil},
		"delete what is not there":           {`{"a":1}`, []strictjson.Edit{del("b"), del("c/d")}, `{"a":1}`, nil},
		"delete below a scalar":              {`{"a":1}`, []strictjson.Edit{del("a/b")}, `{"a":1}`, nil},
		"delete all and add":                 {`{"a":1,"b":2}`, []strictjson.Edit{del("a"), del("b"), set("c", "3")}, `{"c":3}`, nil},
		"nested":                             {`{"params":{"_meta":{"progressToken":0,"x":1},"name":"n"}}`, []strictjson.Edit{set("params/_meta/progressToken", `"t"`), del("params/name")}, `{"params":{"_meta":{"progressToken":"t","x":1}}}`, nil},
		"missing objects are made":           {`{"id":1}`, []strictjson.Edit{set("params/_meta/progressToken", "5")}, `{"id":1,"params":{"_meta":{"progressToken":5}}}`, nil},
		"null on the way is an object":       {`{"result":{"_meta":null}}`, []strictjson.Edit{set("result/_meta/k", "1")}, `{"result":{"_meta":{"k":1}}}`, nil},
		"two below one missing object":       {`{}`, []strictjson.Edit{set("m/a", "1"), set("m/b", "2")}, `{"m":{"a":1,"b":2}}`, nil},
		"a scalar on the way":                {`{"result":{"_meta":7}}`, []strictjson.Edit{set("result/_meta/k", "1")}, ``, strictjson.ErrNotObject},
		"not an object":                      {`[1]`, []strictjson.Edit{set("a", "1")}, ``, strictjson.ErrNotObject},
		"an edit without a path":             {`{}`, []strictjson.Edit{{Value: []byte("1")}}, ``, strictjson.ErrEdits},
		"edits of the same member":           {`{}`, []strictjson.Edit{set("a", "1"), del("a")}, ``, strictjson.ErrEdits},
		"an edit inside another":             {`{}`, []strictjson.Edit{set("a", "{}"), set("a/b", "1")}, ``, strictjson.ErrEdits},
		"a name that is there twice":         {`{"a":1,"b":2,"a":3}`, []strictjson.Edit{set("a", "9")}, `{"a":9,"b":2}`, nil},
		"no edits":                           {` {"a":1} `, nil, ` {"a":1} `, nil},
		"space around the object":            {" {\"a\":1}\n", []strictjson.Edit{set("a", "2")}, " {\"a\":2}\n", nil},
		"an object cut off":                  {`{"a":1`, []strictjson.Edit{set("a", "2")}, ``, strictjson.ErrNotObject},
		"unknown members and order are kept": {`{"z":[1,2],"y":{"q":null},"a":1}`, []strictjson.Edit{del("a")}, `{"z":[1,2],"y":{"q":null}}`, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := []byte(tt.in)
			got, err := strictjson.Splice(in, tt.edits...)
			if !errors.Is(err, tt.err) || string(got) != tt.want {
				t.Errorf("got %s, %v\nwant %s, %v", got, err, tt.want, tt.err)
			}
			if string(in) != tt.in {
				t.Error("the input was changed")
			}
		})
	}
}

// FuzzSplice: the result decodes to what the edit means, and what stands
// before the edited member is byte for byte the same.
func FuzzSplice(f *testing.F) {
	for _, seed := range []string{legacyCall, modernCall, `{ "params" : { } }`, `{"params":null,"x":1}`, `{"params":{"_meta":[]}}`, `{}`} {
		f.Add([]byte(seed), "params", "_meta", true)
		f.Add([]byte(seed), "params", "name", false)
	}
	f.Fuzz(func(t *testing.T, data []byte, outer, inner string, set bool) {
		if strictjson.Scan(data, strictjson.FromClient) != nil || !strictjson.IsObject(data) {
			return
		}
		if !jsonSafe(outer) || !jsonSafe(inner) {
			return
		}
		edit := strictjson.Delete(outer, inner)
		if set {
			edit = strictjson.Set([]byte(`{"v":[1.0]}`), outer, inner)
		}
		got, err := strictjson.Splice(data, edit)
		if err != nil {
			if !errors.Is(err, strictjson.ErrNotObject) {
				t.Fatal(err)
			}
			return
		}
		if err := strictjson.Scan(got, strictjson.FromClient); err != nil && !errors.Is(err, strictjson.ErrMembers) && !errors.Is(err, strictjson.ErrDepth) {
			t.Fatalf("result is refused: %v\n%s", err, got)
		}
		var want, have map[string]any
		if json.Unmarshal(data, &want) != nil || json.Unmarshal(got, &have) != nil {
			return // numbers that float64 cannot hold
		}
		apply(want, outer, inner, set)
		if !reflect.DeepEqual(want, have) {
			t.Fatalf("got %s from %s", got, data)
		}
		if at := bytes.Index(data, []byte(`"`+outer+`"`)); at > 0 && !bytes.HasPrefix(got, data[:at]) && !strings.Contains(string(data[:at]), outer) {
			t.Fatalf("bytes before the member changed: %s from %s", got, data)
		}
	})
}

func jsonSafe(s string) bool {
	b, _ := json.Marshal(s)
	var back string
	return json.Unmarshal(b, &back) == nil && back == s
}

func apply(object map[string]any, outer, inner string, set bool) {
	in, ok := object[outer].(map[string]any)
	if !set {
		if ok {
			delete(in, inner)
		}
		return
	}
	if !ok {
		in = map[string]any{}
		object[outer] = in
	}
	in[inner] = map[string]any{"v": []any{1.0}}
}

// P9: whitespace that holds a line end goes, everything else stays. W18.1.
func TestOneLine(t *testing.T) {
	tests := map[string]struct{ in, want string }{
		"no line end":            {`{ "a" : 1 }`, `{ "a" : 1 }`},
		"pretty printed":         {"{\n  \"a\": [\n    1,\r\n    2\n  ]\n}\n", `{"a": [1,2]}`},
		"only CR":                {"[1,\r2]", `[1,2]`},
		"spaces around the end":  {"[1, \t\n \t2]", `[1,2]`},
		"spaces in strings stay": {"[\" a  \",\n\"b \"]", `[" a  ","b "]`},
		"escapes in strings":     {"[\"a\\nb\",\n1]", `["a\nb",1]`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := string(strictjson.OneLine([]byte(tt.in))); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func FuzzOneLine(f *testing.F) {
	f.Add([]byte("{\n\"a\" : [1, 2] }\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if !json.Valid(data) {
			return
		}
		got := strictjson.OneLine(data)
		if bytes.ContainsAny(got, "\r\n") {
			t.Fatalf("line ends left in %q", got)
		}
		var a, b bytes.Buffer
		if json.Compact(&a, data) != nil || json.Compact(&b, got) != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Fatalf("%q became %q", data, got)
		}
	})
}

func TestUnmarshalIsStrict(t *testing.T) {
	type inner struct {
		N int `json:"n"`
	}
	type file struct {
		Name string  `json:"name"`
		In   []inner `json:"in"`
	}
	tests := map[string]struct {
		text string
		ok   bool
	}{
		"exact":                 {`{"name":"a","in":[{"n":1}]}`, true},
		"unknown member":        {`{"name":"a","extra":1}`, false},
		"unknown member inside": {`{"in":[{"n":1,"m":2}]}`, false},
		"another case":          {`{"Name":"a"}`, false},
		"repeated name":         {`{"name":"a","name":"b"}`, false},
		"wrong type":            {`{"name":1}`, false},
		"text after it":         {`{"name":"a"}{}`, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got file
			if err := strictjson.Unmarshal([]byte(tt.text), &got); (err == nil) != tt.ok {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestMemberAccess(t *testing.T) {
	object := []byte(`{"a":{"b":{"c":[1,"x"]}},"n":null,"s":"\u0041"}`)
	if v, ok := strictjson.GetPath(object, "a", "b", "c"); !ok || string(v) != `[1,"x"]` {
		t.Errorf("GetPath: %s %v", v, ok)
	}
	if _, ok := strictjson.GetPath(object, "n", "b"); ok {
		t.Error("a member of null was found")
	}
	if _, ok := strictjson.Get([]byte(`[1]`), "a"); ok {
		t.Error("a member of an array was found")
	}
	v, _ := strictjson.Get(object, "s")
	if s, ok := strictjson.String(v); !ok || s != "A" {
		t.Errorf("String: %q %v", s, ok)
	}
	n := 0
	if !strictjson.Elements([]byte(`[1, [2], {"a":3}]`), func([]byte) bool { n++; return true }) || n != 3 {
		t.Errorf("Elements saw %d", n)
	}
	if strictjson.Elements([]byte(`{}`), func([]byte) bool { return true }) || strictjson.Elements([]byte(`[1,`), func([]byte) bool { return true }) {
		t.Error("Elements took what is no array")
	}
	if !strictjson.IsNull([]byte(" null ")) || strictjson.IsNull([]byte("nul")) {
		t.Error("IsNull")
	}
}
