package jsonrpc_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

const v = `"jsonrpc":"2.0",`

func TestParse(t *testing.T) {
	tests := map[string]struct {
		in     string
		kind   jsonrpc.Kind
		id     string
		method string
		params string
		meta   string
	}{
		"a request":                   {`{` + v + `"id":7,"method":"tools/list"}`, jsonrpc.KindRequest, "7", "tools/list", "", ""},
		"whitespace around":           {" \r\n{" + v + `"id":7,"method":"a"}` + "\n", jsonrpc.KindRequest, "7", "a", "", ""},
		"a notification":              {`{` + v + `"method":"notifications/initialized"}`, jsonrpc.KindNotification, "", "notifications/initialized", "", ""},
		"a result":                    {`{` + v + `"id":"a","result":{"_meta":{"x":1}}}`, jsonrpc.KindResponse, `"a"`, "", "", `{"x":1}`},
		"an error":                    {`{` + v + `"id":1,"error":{"code":-1,"message":"no"}}`, jsonrpc.KindResponse, "1", "", "", ""},
		"an error without id":         {`{` + v + `"error":{"code":-1,"message":"no"}}`, jsonrpc.KindResponse, "", "", "", ""},
		"an error with id null":       {`{` + v + `"id":null,"error":{"code":-1,"message":"no"}}`, jsonrpc.KindResponse, "", "", "", ""},
		"params":                      {`{` + v + `"id":1,"method":"a","params":{"_meta":{"progressToken":0},"n":1.0}}`, jsonrpc.KindRequest, "1", "a", `{"_meta":{"progressToken":0},"n":1.0}`, `{"progressToken":0}`},
		"params null is absent":       {`{` + v + `"id":1,"method":"a","params":null}`, jsonrpc.KindRequest, "1", "a", "", ""}, // R7, C03
		"_meta null is none":          {`{` + v + `"id":1,"method":"a","params":{"_meta":null}}`, jsonrpc.KindRequest, "1", "a", `{"_meta":null}`, ""},
		"_meta that is no object":     {`{` + v + `"id":1,"method":"a","params":{"_meta":[1]}}`, jsonrpc.KindRequest, "1", "a", `{"_meta":[1]}`, ""},
		"unknown members":             {`{` + v + `"id":1,"method":"a","x":[1]}`, jsonrpc.KindRequest, "1", "a", "", ""},
		"an escaped method":           {`{` + v + `"id":1,"method":"to\u006fls\/list"}`, jsonrpc.KindRequest, "1", "tools/list", "", ""},
		"an escaped member name":      {`{` + v + `"id":1,"meth\u006fd":"a"}`, jsonrpc.KindRequest, "1", "a", "", ""},
		"a null error beside result":  {`{` + v + `"id":1,"result":{},"error":null}`, jsonrpc.KindResponse, "1", "", "", ""},
		"a null result beside error":  {`{` + v + `"id":1,"result":null,"error":{"code":1,"message":"m"}}`, jsonrpc.KindResponse, "1", "", "", ""},
		"a result that is null":       {`{` + v + `"id":1,"result":null}`, jsonrpc.KindResponse, "1", "", "", ""},
		"members in any order":        {`{"method":"a","params":{},"id":1,"jsonrpc":"2.0"}`, jsonrpc.KindRequest, "1", "a", "{}", ""},
		"a name that differs in case": {`{` + v + `"id":1,"method":"a","Method":"b"}`, jsonrpc.KindRequest, "1", "a", "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for _, policy := range []strictjson.Policy{strictjson.FromClient, strictjson.FromWorkload} {
				m, err := jsonrpc.Parse([]byte(tt.in), policy)
				if err != nil {
					t.Fatal(err)
				}
				if m.Kind != tt.kind || m.ID.String() != tt.id || m.Method != tt.method || string(m.Params) != tt.params || string(m.Meta) != tt.meta {
					t.Errorf("got %+v", m)
				}
				if string(m.Raw) != strings.TrimSpace(tt.in) {
					t.Errorf("raw %q", m.Raw)
				}
			}
		})
	}
}

// W1.2, W1.5, C01: ids come back byte for byte, and only strings and integers
// are ids.
func TestIDs(t *testing.T) {
	for _, id := range []string{`0`, `-5`, `1`, `"1"`, `"007"`, `""`, `9007199254740993`, `"9007199254740993"`, `123456789012345678901234567890`, `"\u0061"`, `"` + strings.Repeat("x", 10_000) + `"`} {
		m, err := jsonrpc.Parse([]byte(`{`+v+`"id":`+id+`,"method":"m"}`), strictjson.FromClient)
		if err != nil {
			t.Errorf("%.20s: %v", id, err)
			continue
		}
		if got := string(jsonrpc.EncodeResult(m.ID, []byte(`{}`))); got != `{`+v+`"id":`+id+`,"result":{}}` {
			t.Errorf("%.20s came back as %.80s", id, got)
		}
	}
	if jsonrpc.RawID("1") == jsonrpc.RawID(`"1"`) {
		t.Error("1 and \"1\" are equal")
	}
	for _, id := range []string{`null`, `1.0`, `1e2`, `1.5`, `true`, `[]`, `{}`} {
		_, err := jsonrpc.Parse([]byte(`{`+v+`"id":`+id+`,"method":"m"}`), strictjson.FromClient)
		var parse *jsonrpc.ParseError
		if !errors.As(err, &parse) || parse.Code != jsonrpc.CodeInvalidRequest || !parse.ID.IsZero() {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// W1.1, W1.6, W2 table, R7: what is refused, with which code and which id.
func TestParseRefuses(t *testing.T) {
	tests := map[string]struct {
		in   string
		code int64
		id   string
	}{
		"no JSON":                     {`{"jsonrpc"`, -32700, ""},
		"nothing":                     {``, -32700, ""},
		"two messages":                {`{` + v + `"id":1,"method":"a"}{}`, -32700, ""},
		"not UTF-8":                   {`{` + v + "\"id\":1,\"method\":\"\xff\"}", -32700, ""},
		"an array":                    {`[{` + v + `"id":1,"method":"a"}]`, -32600, ""},
		"a string":                    {`"hello"`, -32600, ""},
		"no version":                  {`{"id":1,"method":"a"}`, -32600, "1"},
		"another version":             {`{"jsonrpc":"1.0","id":1,"method":"a"}`, -32600, "1"},
		"a number as version":         {`{"jsonrpc":2.0,"id":1,"method":"a"}`, -32600, "1"},
		"nothing to do":               {`{` + v + `"id":1}`, -32600, "1"},
		"a method that is no string":  {`{` + v + `"id":1,"method":7}`, -32600, "1"},
		"params that are an array":    {`{` + v + `"id":1,"method":"a","params":[]}`, -32600, "1"},
		"params that are a string":    {`{` + v + `"id":1,"method":"a","params":"x"}`, -32600, "1"},
		"method and result":           {`{` + v + `"id":1,"method":"a","result":{}}`, -32600, "1"},
		"result and error":            {`{` + v + `"id":1,"result":{},"error":{"code":1,"message":""}}`, -32600, "1"},
		"a result without id":         {`{` + v + `"result":{}}`, -32600, ""},
		"an error that is a string":   {`{` + v + `"id":1,"error":"x"}`, -32600, "1"},
		"an error without code":       {`{` + v + `"id":1,"error":{"message":"x"}}`, -32600, "1"},
		"an error with a broken code": {`{` + v + `"id":1,"error":{"code":1.5,"message":"x"}}`, -32600, "1"},
		"a duplicate name":            {`{` + v + `"id":1,"method":"a","method":"b"}`, -32600, "1"},
		"a duplicate by escapes":      {`{` + v + `"id":1,"method":"a","\u006dethod":"b"}`, -32600, "1"},
		"too deep":                    {`{` + v + `"id":1,"method":"a","params":{"x":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}}`, -32600, "1"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := jsonrpc.Parse([]byte(tt.in), strictjson.FromClient)
			var parse *jsonrpc.ParseError
			if !errors.As(err, &parse) {
				t.Fatalf("got %v", err)
			}
			if parse.Code != tt.code || parse.ID.String() != tt.id {
				t.Errorf("got %d with id %q (%v)", parse.Code, parse.ID, err)
			}
		})
	}
}

// W1.7: an error object is forwarded as it came, unless it lacks the message.
func TestErrorObjectsSurvive(t *testing.T) {
	raw := `{"code":-32002,"message":"no such book","data":{"uri":"book://x"},"extra":[1.0]}`
	m, err := jsonrpc.Parse([]byte(`{`+v+`"id":1,"error":`+raw+`}`), strictjson.FromWorkload)
	if err != nil {
		t.Fatal(err)
	}
	if m.Err.Code != -32002 || m.Err.Message != "no such book" || string(m.Err.Data) != `{"uri":"book://x"}` {
		t.Errorf("got %+v", m.Err)
	}
	if got := string(jsonrpc.EncodeError(m.ID, m.Err)); got != `{`+v+`"id":1,"error":`+raw+`}` {
		t.Errorf("forwarded as %s", got)
	}
	m, err = jsonrpc.Parse([]byte(`{`+v+`"id":1,"error":{"code":5}}`), strictjson.FromWorkload)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(jsonrpc.EncodeError(m.ID, m.Err)); got != `{`+v+`"id":1,"error":{"code":5,"message":""}}` {
		t.Errorf("forwarded as %s", got)
	}
}

// W1.8, P34: an id that is not known is left out, or null where the revision
// has it so.
func TestErrorsWithoutID(t *testing.T) {
	e := jsonrpc.Errorf(-32700, "bad").WithReason("a\"b")
	if got := string(jsonrpc.EncodeError(jsonrpc.ID{}, e)); got != `{"jsonrpc":"2.0","error":{"code":-32700,"message":"bad","data":{"reason":"a\"b"}}}` {
		t.Error(got)
	}
	if got := string(jsonrpc.EncodeError(jsonrpc.NullID(), e)); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":null,`) {
		t.Error(got)
	}
	if e.Reason() != `a"b` {
		t.Error(e.Reason())
	}
}

// R5: the id of a broken answer is read from what is there.
func TestRecoverID(t *testing.T) {
	for in, want := range map[string]string{
		`{"jsonrpc":"2.0","id":5,"result":{"content":[{"ty`: "5",
		"{\"id\":\"a\",\"result\":{\"text\":\"\xc7\xd1\"}}": `"a"`, // C10
		`{"id":1,"id":2}`:           "1",
		`{"result":{"id":9},"id":3`: "3",
		`{"result":{"id":9`:         "",
		`{"id":1.5,"x":`:            "",
		`garbage`:                   "",
		`[{"id":1}]`:                "",
		"":                          "",
	} {
		if got := jsonrpc.RecoverID([]byte(in)).String(); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestEncodeCalls(t *testing.T) {
	if got := string(jsonrpc.EncodeRequest(jsonrpc.RawID("1"), "a\"b", []byte(`{"x":1.0}`))); got != `{"jsonrpc":"2.0","id":1,"method":"a\"b","params":{"x":1.0}}` {
		t.Error(got)
	}
	if got := string(jsonrpc.EncodeNotification("n", nil)); got != `{"jsonrpc":"2.0","method":"n"}` {
		t.Error(got)
	}
}

// W12.1, W12.4
func TestParseBatch(t *testing.T) {
	got, err := jsonrpc.ParseBatch([]byte(` [{`+v+`"id":1,"method":"a"},{`+v+`"method":"b"}]`), strictjson.FromClient)
	if err != nil || len(got) != 2 || got[0].ID.String() != "1" || got[1].Kind != jsonrpc.KindNotification {
		t.Fatalf("got %+v, %v", got, err)
	}
	for name, tt := range map[string]struct {
		in   string
		code int64
	}{
		"empty":            {`[]`, -32600},
		"broken":           {`[{`, -32700},
		"a nested array":   {`[[]]`, -32600},
		"a broken member":  {`[{` + v + `"id":1,"method":"a"},{}]`, -32600},
		"too many members": {`[` + strings.Repeat(`{`+v+`"method":"a"},`, jsonrpc.MaxBatch) + `{` + v + `"method":"a"}]`, -32600},
		"an object":        {`{}`, -32600},
	} {
		var parse *jsonrpc.ParseError
		if _, err := jsonrpc.ParseBatch([]byte(tt.in), strictjson.FromClient); !errors.As(err, &parse) || parse.Code != tt.code {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzParse: nothing panics; what is accepted means the same to encoding/json
// and comes out of the encoder as it went in.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{` + v + `"id":7,"method":"tools/call","params":{"name":"x","_meta":{"progressToken":"a"}}}`,
		`{` + v + `"id":null,"error":{"code":-1,"message":"no"}}`, `[{}]`, `{"id":1.0}`, "{\"id\":\"\xff\"}",
		`{` + v + `"id":1,"result":{"_meta":{}}}`, `{"\u006dethod":"a",` + v + `"id":1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_ = jsonrpc.RecoverID(data)
		if jsonrpc.IsBatch(data) {
			_, _ = jsonrpc.ParseBatch(data, strictjson.FromClient)
		}
		m, err := jsonrpc.Parse(data, strictjson.FromClient)
		if err != nil {
			var parse *jsonrpc.ParseError
			if !errors.As(err, &parse) || (parse.Code != -32700 && parse.Code != -32600) {
				t.Fatalf("%v", err)
			}
			return
		}
		var other map[string]json.RawMessage
		if err := json.Unmarshal(data, &other); err != nil {
			t.Fatalf("accepted, but encoding/json says %v", err)
		}
		if m.Method != "" {
			var method string
			if err := json.Unmarshal(other["method"], &method); err != nil || method != m.Method {
				t.Fatalf("method %q against %q", m.Method, method)
			}
		}
		if !m.ID.IsZero() && string(other["id"]) != m.ID.String() {
			t.Fatalf("id %q against %q", m.ID, other["id"])
		}
		if m.Kind == jsonrpc.KindRequest {
			again, err := jsonrpc.Parse(jsonrpc.EncodeRequest(m.ID, m.Method, m.Params), strictjson.FromClient)
			if err != nil || again.ID != m.ID || again.Method != m.Method || string(again.Params) != string(m.Params) {
				t.Fatalf("round trip: %+v, %v", again, err)
			}
		}
	})
}

// FuzzParseBatch: a batch is its members, each as it would be alone (W12.1).
func FuzzParseBatch(f *testing.F) {
	one := `{` + v + `"id":7,"method":"tools/call","params":{"a":[1,{"b":null}]}}`
	for _, seed := range []string{`[` + one + `]`, `[ ` + one + ` , ` + one + ` ]`, `[]`, `[1]`, `[` + one + `,]`, `{}`, `[[` + one + `]]`, `[` + one + `] `} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		msgs, err := jsonrpc.ParseBatch(data, strictjson.FromClient)
		if err != nil {
			var parse *jsonrpc.ParseError
			if !errors.As(err, &parse) || (parse.Code != -32700 && parse.Code != -32600) {
				t.Fatalf("%v", err)
			}
			return
		}
		var other []json.RawMessage
		if err := json.Unmarshal(data, &other); err != nil || len(other) != len(msgs) || len(msgs) == 0 || len(msgs) > jsonrpc.MaxBatch {
			t.Fatalf("%d messages, encoding/json says %d, %v", len(msgs), len(other), err)
		}
		for i, m := range msgs {
			alone, err := jsonrpc.Parse(other[i], strictjson.FromClient)
			if err != nil || alone.Kind != m.Kind || alone.ID != m.ID || alone.Method != m.Method || string(alone.Params) != string(m.Params) {
				t.Fatalf("member %d: %+v against %+v, %v", i, m, alone, err)
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	data := []byte(`{"jsonrpc":"2.0","id":41,"method":"tools/call","params":{"name":"get_weather_forecast","arguments":{"city":"Berlin","units":"metric","days":3,"detailed":true},"_meta":{"progressToken":"token-0001"}}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := jsonrpc.Parse(data, strictjson.FromClient); err != nil {
			b.Fatal(err)
		}
	}
}
