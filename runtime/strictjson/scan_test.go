package strictjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"runtime"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

func nest(open, inner, closing string, n int) string {
	return strings.Repeat(open, n) + inner + strings.Repeat(closing, n)
}

// P8: the policy, case by case.
func TestScan(t *testing.T) {
	tests := map[string]struct {
		text             string
		client, workload error
	}{
		"an object":                           {text: `{"a":1}`},
		"whitespace around":                   {text: " \r\n\t[1, 2]\n "},
		"a bare scalar":                       {text: `"x"`},
		"nothing at all":                      {text: ``, client: strictjson.ErrGrammar, workload: strictjson.ErrGrammar},
		"only whitespace":                     {text: "  ", client: strictjson.ErrGrammar, workload: strictjson.ErrGrammar},
		"text after the value":                {text: `{} {}`, client: strictjson.ErrGrammar, workload: strictjson.ErrGrammar},
		"garbage after the value":             {text: `{}x`, client: strictjson.ErrGrammar, workload: strictjson.ErrGrammar},
		"cut off":                             {text: `{"a":[1,`, client: strictjson.ErrGrammar, workload: strictjson.ErrGrammar},
		"a trailing comma":                    {text: `{"a":1,}`, client: strictjson.ErrGrammar, workload: strictjson.ErrGrammar},
		"a comment":                           {text: `{"a":1/**/}`, client: strictjson.ErrGrammar, workload: strictjson.ErrGrammar},
		"single quotes":                       {text: `{'a':1}`, client: strictjson.ErrGrammar, workload: strictjson.ErrGrammar},
		"NaN":                                 {text: `[NaN]`, client: strictjson.ErrGrammar, workload: strictjson.ErrGrammar},
		"a leading zero":                      {text: `[01]`, client: strictjson.ErrGrammar, workload: strictjson.ErrGrammar},
		"a huge number":                       {text: `[1e999,-0,123456789012345678901234567890]`},
		"a raw line end in a string":          {text: "[\"a\nb\"]", client: strictjson.ErrGrammar, workload: strictjson.ErrGrammar},
		"a NUL escape in a name":              {text: `{"a\u0000":1}`},
		"a byte order mark":                   {text: "\ufeff{}", client: strictjson.ErrGrammar, workload: strictjson.ErrGrammar},
		"bytes that are not UTF-8":            {text: "[\"\xc7\xd1\"]", client: strictjson.ErrGrammar, workload: strictjson.ErrGrammar},
		"an encoded surrogate as raw bytes":   {text: "[\"\xed\xa0\xbd\"]", client: strictjson.ErrGrammar, workload: strictjson.ErrGrammar},
		"an unpaired surrogate escape":        {text: `["\ud83d","\udcff.txt"]`},
		"an unpaired surrogate in a name":     {text: `{"\ud83d":1}`},
		"as deep as allowed":                  {text: nest("[", "1", "]", strictjson.MaxDepth)},
		"one level too deep":                  {text: nest("[", "", "]", strictjson.MaxDepth+1), client: strictjson.ErrDepth, workload: strictjson.ErrDepth},
		"too deep where nothing is read":      {text: `{"result":{"x":` + nest("[", "", "]", strictjson.MaxDepth-1) + `}}`, client: strictjson.ErrDepth, workload: strictjson.ErrDepth},
		"broken where nothing is read":        {text: `{"result":{"x":[{"a":}]}}`, client: strictjson.ErrGrammar, workload: strictjson.ErrGrammar},
		"cut off where nothing is read":       {text: `{"result":{"x":[{"a":1`, client: strictjson.ErrGrammar, workload: strictjson.ErrGrammar},
		"objects too deep":                    {text: nest(`{"a":`, "1", "}", strictjson.MaxDepth+1), client: strictjson.ErrDepth, workload: strictjson.ErrDepth},
		"a repeated name":                     {text: `{"a":1,"a":2}`, client: strictjson.ErrDuplicate, workload: strictjson.ErrDuplicate},
		"a name repeated in escapes":          {text: `{"a":1,"\u0061":2}`, client: strictjson.ErrDuplicate, workload: strictjson.ErrDuplicate},
		"names that differ in case":           {text: `{"method":1,"Method":2}`},
		"names that fold alike":               {text: `{"params":1,"paramſ":2}`},
		"repeated one level down":             {text: `{"result":{"a":1,"a":2}}`, client: strictjson.ErrDuplicate, workload: strictjson.ErrDuplicate},
		"repeated two levels down":            {text: `{"result":{"x":{"a":1,"a":2}}}`, client: strictjson.ErrDuplicate},
		"repeated in an array":                {text: `{"result":[{"a":1,"a":2}]}`, client: strictjson.ErrDuplicate},
		"repeated in _meta":                   {text: `{"result":{"_meta":{"a":1,"a":2}}}`, client: strictjson.ErrDuplicate, workload: strictjson.ErrDuplicate},
		"repeated in an escaped _meta":        {text: `{"result":{"\u005fmeta":{"a":1,"a":2}}}`, client: strictjson.ErrDuplicate, workload: strictjson.ErrDuplicate},
		"repeated in inputRequests":           {text: `{"result":{"inputRequests":{"a":1,"a":2}}}`, client: strictjson.ErrDuplicate, workload: strictjson.ErrDuplicate},
		"repeated inside an array of _meta":   {text: `{"result":[{"_meta":{"a":1,"a":2}}]}`, client: strictjson.ErrDuplicate},
		"the same name in several objects":    {text: `{"a":{"a":{"a":[{"a":1},{"a":2}]}},"b":{"a":1}}`},
		"as many members as allowed":          {text: manyKeys(strictjson.MaxMembers)},
		"one member too many":                 {text: manyKeys(strictjson.MaxMembers + 1), client: strictjson.ErrMembers},
		"a repeated name after many":          {text: manyKeys(900)[:len(manyKeys(900))-1] + `,"key_3":1}`, client: strictjson.ErrDuplicate, workload: strictjson.ErrDuplicate},
		"a name again after a nested object":  {text: `{"a":` + manyKeys(300) + `,"a":1}`, client: strictjson.ErrDuplicate, workload: strictjson.ErrDuplicate},
		"two different unpaired halves alike": {text: `{"\ud800":1,"\ud801":2}`, client: strictjson.ErrDuplicate, workload: strictjson.ErrDuplicate},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for policy, want := range map[strictjson.Policy]error{strictjson.FromClient: tt.client, strictjson.FromWorkload: tt.workload} {
				err := strictjson.Scan([]byte(tt.text), policy)
				if !errors.Is(err, want) || (want == nil) != (err == nil) {
					t.Errorf("policy %d: got %v, want %v", policy, err, want)
				}
				var typed *strictjson.Error
				if err != nil && !errors.As(err, &typed) {
					t.Errorf("policy %d: %T is not *strictjson.Error", policy, err)
				}
			}
		})
	}
}

type seen map[string]string

func (s seen) Member(parent, name, value []byte) { s[string(parent)+"/"+string(name)] = string(value) }

func TestScanShowsTheOuterMembers(t *testing.T) {
	text := []byte(` {"id" : 7, "para\u006ds": { "name":"x", "_meta" :{"a":{"b":1}}, "more": [ {"c":2} ] }, "list":[{"no":1}]} `)
	want := seen{
		"/id": "7", "/params": `{ "name":"x", "_meta" :{"a":{"b":1}}, "more": [ {"c":2} ] }`, "/list": `[{"no":1}]`,
		"params/name": `"x"`, "params/_meta": `{"a":{"b":1}}`, "params/more": `[ {"c":2} ]`,
	}
	for _, policy := range []strictjson.Policy{strictjson.FromClient, strictjson.FromWorkload} {
		got := seen{}
		if err := strictjson.ScanVisit(text, policy, got); err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(got, want) {
			t.Errorf("policy %d: got %v, want %v", policy, got, want)
		}
	}
}

// P8: no JSON makes memory grow beyond its own size.
func TestScanDoesNotAmplify(t *testing.T) {
	texts := map[string]string{
		"many keys":    manyKeys(200_000),
		"open arrays":  strings.Repeat("[", 1<<20),
		"open objects": strings.Repeat(`{"a":`, 1<<18),
		"many objects": "[" + strings.Repeat(`{"a":1},`, 1<<17) + "1]",
		"full nesting": nest(manyKeys(900)[:len(manyKeys(900))-1]+`,"next":`, "1", "}", 100),
	}
	for name, text := range texts {
		for _, policy := range []strictjson.Policy{strictjson.FromClient, strictjson.FromWorkload} {
			t.Run(name, func(t *testing.T) {
				data := []byte(text)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				_ = strictjson.Scan(data, policy)
				runtime.ReadMemStats(&after)
				got := int64(after.TotalAlloc - before.TotalAlloc)
				// Entries and slots of the names that are open at one time.
				if limit := int64(24*len(data) + 1<<16); got > limit {
					t.Errorf("%d bytes of input cost %d bytes", len(data), got)
				}
			})
		}
	}
}

func FuzzScan(f *testing.F) {
	for _, seed := range []string{legacyCall, modernCall, `{"a":1,"\u0061":2}`, `["\ud83d"]`, "[\"\xff\"]", `{"a":[1,{"b":null}]} x`, nest("[", "", "]", 130), `1e999`, `"\u0000"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		keep := bytes.Clone(data)
		client, workload := strictjson.Scan(data, strictjson.FromClient), strictjson.Scan(data, strictjson.FromWorkload)
		if !bytes.Equal(keep, data) {
			t.Fatal("the input was changed")
		}
		if client == nil && workload != nil {
			t.Fatalf("a client may send it, a workload not: %v", workload)
		}
		// Differential: what we take every other parser must take; what we
		// call broken grammar must be broken for encoding/json too, unless it
		// is UTF-8, which that parser repairs silently.
		if client == nil && !json.Valid(data) {
			t.Fatal("accepted, but encoding/json refuses it")
		}
		var e *strictjson.Error
		if errors.As(client, &e) && errors.Is(client, strictjson.ErrGrammar) && e.Detail != "not UTF-8" && json.Valid(data) {
			t.Fatalf("refused as grammar, but encoding/json takes it: %v", client)
		}
		if client == nil && strictjson.IsObject(data) {
			compareMembers(t, data)
		}
	})
}

// compareMembers checks member access against encoding/json.
func compareMembers(t *testing.T, data []byte) {
	var want map[string]json.RawMessage
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	n := 0
	whole := strictjson.Each(data, func(name, value []byte) bool {
		n++
		if string(want[string(name)]) != string(value) {
			t.Fatalf("member %q: got %s, want %s", name, value, want[string(name)])
		}
		if got, ok := strictjson.Get(data, string(name)); !ok || !bytes.Equal(got, value) {
			t.Fatalf("Get(%q) = %s, %v", name, got, ok)
		}
		return true
	})
	if !whole || n != len(want) {
		t.Fatalf("saw %d members of %d (whole %v)", n, len(want), whole)
	}
}
