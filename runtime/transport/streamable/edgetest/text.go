package edgetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/paramheader"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// OddNames: whatever a tool or resource is called, its name and the header that
// repeats it agree, and both eras call the same. P33.11.
func OddNames(t *testing.T, target Target) {
	names := map[string]string{
		"a space": "my tool", "a comma": "a,b", "a semicolon and quotes": `a;b="c"`, "what looks encoded": "=?base64?x?=", "128 characters": strings.Repeat("x", 128),
		"1,000 characters": strings.Repeat("é", 500), "composed": "caf\u00e9", "decomposed": "cafe\u0301", "an emoji": "🛠", "a line separator": "a\u2028b", "a line end": "a\r\nb",
		"a NUL": "a\x00b", "space at both ends": " a ", "a tab": "a\tb", "a slash": "a/b", "percent signs": "100%25", "right to left": "\u202eevil", "DEL": "a\x7f", "nothing but a dot": ".",
	}
	var called string
	w := &workload{serve: func(x *dispatch.Exchange) dispatch.Outcome {
		member := "name"
		if x.Msg.Method == "resources/read" {
			member = "uri"
		}
		raw, _ := strictjson.Get(x.Msg.Params, member)
		called, _ = strictjson.String(raw)
		return dispatch.Result([]byte(`{` + required(x.Msg.Method) + `"x":1}`))
	}}
	target.open(t, w, Settings{}, func(c *client) {
		id := c.connect("2025-11-25")
		for what, name := range names {
			for method, member := range map[string]string{"tools/call": "name", "prompts/get": "name", "resources/read": "uri"} {
				params := string(strictjson.Quote([]byte(`{"`+member+`":`), name))
				called = ""
				a := c.ask(call{body: `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + "," + envelope + `}}`, header: modern(method, "Mcp-Name", paramheader.Encode(name))})
				if a.status != 200 || called != name {
					t.Errorf("%s by %s: %d %s, called %q", what, method, a.status, a.body, called)
				}
				called = ""
				a = c.ask(call{body: `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}}`, header: on(id)})
				if a.status != 200 || called != name {
					t.Errorf("%s by legacy %s: %d %s, called %q", what, method, a.status, a.body, called)
				}
				// Every other name's header is refused.
				a = c.ask(call{body: `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + "," + envelope + `}}`, header: modern(method, "Mcp-Name", paramheader.Encode(name+"x"))})
				if a.status != 400 || a.code() != "-32020" {
					t.Errorf("%s with another header: %d %s", what, a.status, a.body)
				}
			}
		}
	})
}

// OddIDs come back letter for letter, in JSON and in events. P33.13, W1.2,
// W1.5, B16.1.
func OddIDs(t *testing.T, target Target) {
	legal := []string{"0", "-1", "9007199254740993", "-9223372036854775809", `""`, `"` + strings.Repeat("i", 10_000) + `"`, `"\u0000"`, `"\ud83d"`, `"a\nb"`, `"\u2028"`, `"1"`, `"\"}"`}
	illegal := []string{"1.0", "1e2", "0.5", "true", "[]", "{}", "null"}
	target.open(t, &workload{}, Settings{}, func(c *client) {
		id := c.connect("2025-11-25")
		for _, era := range []string{"legacy", "modern"} {
			send := func(rid, accept string) answer {
				q := call{body: `{"jsonrpc":"2.0","id":` + rid + `,"method":"prompts/list"}`, header: with(on(id), "Accept", accept)}
				if era == "modern" {
					q = call{body: `{"jsonrpc":"2.0","id":` + rid + `,"method":"prompts/list","params":{` + envelope + `}}`, header: modern(asked, "Accept", accept)}
				}
				return c.ask(q)
			}
			for _, rid := range legal {
				want := `{"jsonrpc":"2.0","id":` + rid + `,"result":` + answered
				if a := send(rid, "application/json"); !strings.HasPrefix(a.body, want) {
					t.Errorf("%s: %.200s", era, a.body)
				}
				if events := messages(send(rid, "text/event-stream").body); len(events) != 1 || !strings.HasPrefix(events[0], want) {
					t.Errorf("%s %.50s: %d events", era, rid, len(events))
				}
			}
			for _, rid := range illegal {
				if a := send(rid, "*/*"); a.status != 400 || a.code() != "-32600" || a.id() != "none" {
					t.Errorf("%s %s: %d %s", era, rid, a.status, a.body)
				}
			}
		}
	})
}

// OddMeta: _meta of every kind; values of keys that others define are bytes.
// P33.13, P14, W6.4.
func OddMeta(t *testing.T, target Target) {
	var meta, token string
	w := &workload{serve: func(x *dispatch.Exchange) dispatch.Outcome {
		raw, _ := strictjson.Get(x.Msg.Params, "_meta")
		meta, token = string(raw), string(x.ProgressToken())
		if token != "" {
			_ = x.Notify(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, token))
		}
		return dispatch.Result([]byte(`{"content":[]}`))
	}}
	target.open(t, w, Settings{}, func(c *client) {
		id := c.connect("2025-11-25")
		for sent, want := range map[string][2]string{ // what the server sees, and the token
			`null`: {`null`, ""}, `[1]`: {`[1]`, ""}, `"x"`: {`"x"`, ""}, `5`: {`5`, ""}, `{}`: {`{}`, ""},
			`{"progressToken":0}`:                          {`{"progressToken":0}`, "0"},
			`{"progressToken":""}`:                         {`{"progressToken":""}`, `""`},
			`{"progressToken":1.0}`:                        {`{"progressToken":1.0}`, ""},
			`{"progressToken":9007199254740993}`:           {`{"progressToken":9007199254740993}`, "9007199254740993"},
			`{"progressToken":{}}`:                         {`{"progressToken":{}}`, ""},
			`{"traceparent":"nonsense","tracestate":5}`:    {`{"traceparent":"nonsense","tracestate":5}`, ""},
			`{"com.example/x":{"y":1.0},"":0}`:             {`{"com.example/x":{"y":1.0},"":0}`, ""},
			`{"dev.fairlead/x":1,"a":2}`:                   {`{"a":2}`, ""},
			`{"io.modelcontextprotocol/serverInfo":{}}`:    {`{}`, ""},
			`{"io.modelcontextprotocol/subscriptionId":1}`: {`{}`, ""},
			`{"io.modelcontextprotocol/related-task":{}}`:  {`{}`, ""},
			`{"\u0064ev.fairlead/x":1}`:                    {`{}`, ""}, // spelled otherwise
		} {
			a := c.ask(call{body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","_meta":` + sent + `}}`, header: on(id)})
			heard := ""
			if all := messages(a.body); len(all) == 2 {
				raw, _ := strictjson.GetPath([]byte(all[0]), "params", "progressToken")
				heard = string(raw)
			}
			if a.status != 200 || heard != want[1] || (token == "") != (heard == "") {
				t.Errorf("%s: %d, progress came back for %q", sent, a.status, heard)
			}
			if own := target.Framed && strings.Contains(sent, "progressToken"); !own && (meta != want[0] || token != want[1]) {
				t.Errorf("%s: the server saw %s and the token %q", sent, meta, token)
			}
		}
		// W6.5, W16.3: the modern envelope must be one.
		for _, sent := range []string{`null`, `[1]`, `"x"`, `{}`} {
			if a := c.ask(call{body: `{"jsonrpc":"2.0","id":1,"method":"prompts/list","params":{"_meta":` + sent + `}}`, header: modern(asked)}); a.status != 400 || a.code() != "-32602" || a.id() != "1" {
				t.Errorf("modern %s: %d %s", sent, a.status, a.body)
			}
		}
		// Members that mean something elsewhere are bytes here.
		a := c.ask(call{body: `{"jsonrpc":"2.0","id":1,"method":"prompts/list","params":{"inputResponses":{"a":{}},"requestState":"x",` + envelope + `}}`, header: modern(asked)})
		if a.status != 200 || a.code() != "" {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
}

// OddText: text that others choke on passes both ways unchanged, and an event
// stays one event. P33.14, P8, P9.
func OddText(t *testing.T, target Target) {
	texts := map[string]string{
		"an unpaired high surrogate": `"\ud83d"`, "an unpaired low one": `"\udcff.txt"`, "both the wrong way round": `"\udc00\ud800"`, "a pair": `"\ud83d\ude00"`,
		"line and paragraph separators": "\"a\u2028b\u2029c\"", "a NUL": `"a\u0000b"`, "an escaped line end": `"a\r\nb"`, "next line": "\"a\u0085b\"", "a byte order mark inside": "\"a\ufeffb\"",
		"a colon and data": `"data: x"`, "an event field": `"event: x\n\n"`, "a big number": `123456789012345678901234567890`, "a number as written": `1.00E+2`, "minus zero": `-0`,
		"space between tokens": "[ 1 ,\t2 ]", "line ends between tokens": "{\r\n\"a\": 1,\n\"b\": [\r2 ]\n}", "an empty name": `{"":{"":null}}`, "deep": strings.Repeat("[", 100) + strings.Repeat("]", 100),
	}
	oneLine := strings.NewReplacer("\r", "", "\n", "")
	var seen string
	var result string
	w := &workload{serve: func(x *dispatch.Exchange) dispatch.Outcome {
		raw, _ := strictjson.Get(x.Msg.Params, "x")
		seen = string(raw)
		_ = x.Notify([]byte(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":` + result + `}}`))
		return dispatch.Result([]byte(`{"content":[],"x":` + result + `}`))
	}}
	target.open(t, w, Settings{}, func(c *client) {
		id := c.connect("2025-11-25")
		for name, text := range texts {
			result = text
			for _, accept := range []string{"application/json", "text/event-stream"} {
				a := c.ask(call{body: fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","x":%s}}`, text), header: with(on(id), "Accept", accept)})
				text := text
				if target.Framed {
					text = oneLine.Replace(text)
				}
				if seen != text {
					t.Errorf("%s: the server saw %q", name, seen)
				}
				got := []string{a.body}
				want := []string{`{"jsonrpc":"2.0","id":1,"result":{"content":[],"x":` + text + `}}`}
				if accept == "text/event-stream" {
					got = messages(a.body)
					want = []string{oneLine.Replace(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":` + text + `}}`), oneLine.Replace(want[0])}
				}
				if strings.Join(got, "\n") != strings.Join(want, "\n") {
					t.Errorf("%s as %s:\n%q\nwant\n%q", name, accept, got, want)
				}
			}
		}
	})
}
