package streamable_test

import (
	"testing"
)

// The suite's http-custom-header-server-validation and more: W15.2, W15.4,
// W15.5, W15.7, W15.8, W15.11, W15.13, W15.17, W15.18, W15.23, P25. The check comes last,
// before anything reaches the server (W16.3).
func TestParamHeaders(t *testing.T) {
	const schema = `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"in":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"Count"}}},"f":{"type":"boolean","x-mcp-header":"Flag"},"plain":{"type":"string"}}}`
	schemas := map[string]string{"t": schema, "broken": `{"properties":{"region":{"type":"number","x-mcp-header":"Region"}}}`, "none": `{"type":"object"}`}
	tests := map[string]struct {
		tool, arguments string
		header          map[string]string
		code            string
	}{
		"it repeats a string":              {"t", `{"region":"eu"}`, map[string]string{"Mcp-Param-Region": "eu"}, ""},
		"its name in lower case":           {"t", `{"region":"eu"}`, map[string]string{"mcp-param-region": "eu"}, ""},
		"space around it":                  {"t", `{"region":"eu"}`, map[string]string{"Mcp-Param-Region": "  eu \t"}, ""},
		"another letter case":              {"t", `{"region":"eu"}`, map[string]string{"Mcp-Param-Region": "EU"}, "-32020"},
		"another value":                    {"t", `{"region":"eu"}`, map[string]string{"Mcp-Param-Region": "us"}, "-32020"},
		"it is missing":                    {"t", `{"region":"eu"}`, nil, "-32020"},
		"an empty one":                     {"t", `{"region":""}`, map[string]string{"Mcp-Param-Region": ""}, ""},
		"an empty value without one":       {"t", `{"region":""}`, nil, "-32020"},
		"base64":                           {"t", `{"region":"Hello"}`, map[string]string{"Mcp-Param-Region": "=?base64?SGVsbG8=?="}, ""},
		"base64 of another value":          {"t", `{"region":"Hello"}`, map[string]string{"Mcp-Param-Region": "=?base64?SGVsbA==?="}, "-32020"},
		"bad padding":                      {"t", `{"region":"Hello"}`, map[string]string{"Mcp-Param-Region": "=?base64?SGVsbG8?="}, "-32020"},
		"a bad alphabet":                   {"t", `{"region":"Hello"}`, map[string]string{"Mcp-Param-Region": "=?base64?SGVs!!!bG8=?="}, "-32020"},
		"a literal without prefix":         {"t", `{"region":"SGVsbG8="}`, map[string]string{"Mcp-Param-Region": "SGVsbG8="}, ""},
		"a literal without suffix":         {"t", `{"region":"=?base64?SGVsbG8="}`, map[string]string{"Mcp-Param-Region": "=?base64?SGVsbG8="}, ""},
		"bytes beyond ASCII":               {"t", `{"region":"é"}`, map[string]string{"Mcp-Param-Region": "é"}, "-32020"},
		"an integer":                       {"t", `{"in":{"n":42}}`, map[string]string{"Mcp-Param-Count": "42"}, ""},
		"an integer spelled otherwise":     {"t", `{"in":{"n":42}}`, map[string]string{"Mcp-Param-Count": "42.0"}, ""},
		"an argument spelled otherwise":    {"t", `{"in":{"n":4.2e1}}`, map[string]string{"Mcp-Param-Count": "42"}, ""},
		"another integer":                  {"t", `{"in":{"n":42}}`, map[string]string{"Mcp-Param-Count": "43"}, "-32020"},
		"beyond 2^53 every digit counts":   {"t", `{"in":{"n":9007199254740993}}`, map[string]string{"Mcp-Param-Count": "9007199254740992"}, "-32020"},
		"a boolean":                        {"t", `{"f":true}`, map[string]string{"Mcp-Param-Flag": "true"}, ""},
		"a boolean in capitals":            {"t", `{"f":true}`, map[string]string{"Mcp-Param-Flag": "True"}, "-32020"},
		"null needs none":                  {"t", `{"region":null}`, nil, ""},
		"absent needs none":                {"t", `{"plain":"x"}`, nil, ""},
		"no arguments at all":              {"t", `{}`, nil, ""},
		"it repeats nothing":               {"t", `{"region":null}`, map[string]string{"Mcp-Param-Region": "eu"}, "-32020"},
		"one that nobody asked for":        {"t", `{"plain":"x"}`, map[string]string{"Mcp-Param-Plain": "y"}, ""},
		"a wrong type is the server's":     {"t", `{"region":[1]}`, nil, ""},
		"a wrong type that can be told":    {"t", `{"region":5}`, map[string]string{"Mcp-Param-Region": "5"}, ""},
		"a tool that nobody knows":         {"?", `{"region":"eu"}`, nil, ""},
		"a schema that breaks the rules":   {"broken", `{"region":"eu"}`, nil, ""},
		"a schema that asks for nothing":   {"none", `{"region":"eu"}`, nil, ""},
		"the same member at another place": {"t", `{"n":1,"in":{"region":"eu"}}`, nil, ""},
	}
	b := &backend{}
	inLab(t, b, func(l *lab) {
		l.server.ParamSchema = func(tool string) ([]byte, bool) { s, ok := schemas[tool]; return []byte(s), ok }
		for name, tt := range tests {
			before := b.served()
			a := l.ask(call{body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tt.tool + `","arguments":` + tt.arguments + `,` + envelope + `}}`,
				header: with(modern("tools/call", "Mcp-Name", tt.tool), pairs(tt.header)...)})
			if a.code() != tt.code || (a.status == 400) != (tt.code != "") || (b.served() > before) != (tt.code == "") {
				t.Errorf("%s: %d %s", name, a.status, a.body)
			}
			if tt.code != "" && a.id() != "1" {
				t.Errorf("%s: %s", name, a.body)
			}
		}
		if a := l.ask(call{body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5,` + envelope + `}}`, header: modern("tools/call")}); a.status != 200 {
			t.Errorf("a name that is none: %d %s", a.status, a.body)
		}
		// Legacy clients know nothing of these fields.
		if a := l.ask(call{body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"region":"eu"}}}`, header: on(l.connect("2025-11-25", "{}"))}); a.code() != "" {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
}

func pairs(m map[string]string) (out []string) {
	for k, v := range m {
		out = append(out, k, v)
	}
	return out
}
