package streamable_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/transport/streamable"
)

// W16.1, W16.2, W16.3, P34, W38.2: a request with everything wrong is told of
// the first thing, then, with that mended, of the next, down to the answer.
// Authentication comes before anything of the message is read, and a request
// that is refused reaches nobody.
func TestValidationOrder(t *testing.T) {
	steps := []struct {
		wrong  string
		status int
		code   string
	}{
		{"the origin", 403, "-32600"},
		{"a field that came twice", 400, "-32020"},
		{"no token", 401, "-32600"},
		{"the HTTP method", 405, "-32600"},
		{"the media type", 415, "-32600"},
		{"what it accepts", 406, "-32600"},
		{"the size", 413, "-32600"},
		{"the JSON", 400, "-32700"},
		{"the shape", 400, "-32600"},
		{"the version's type", 400, "-32602"},
		{"the version header", 400, "-32020"},
		{"the version", 400, "-32022"},
		{"the rest of the envelope", 400, "-32602"},
		{"Mcp-Method", 400, "-32020"},
		{"the method", 404, "-32601"},
		{"Mcp-Name", 400, "-32020"},
		{"the log level", 200, "-32602"},
		{"Mcp-Param", 400, "-32020"},
		{"nothing", 200, ""},
	}
	at := map[string]int{}
	for i, s := range steps {
		at[s.wrong] = i
	}
	b := &backend{}
	inLab(t, b, func(l *lab) {
		l.server.Authenticate = func(r *http.Request) (*auth.Identity, error) {
			if r.Header.Get("Authorization") == "" {
				return nil, &streamable.Denied{Status: 401, Challenge: "Bearer", Message: "no token"}
			}
			return &auth.Identity{Principal: "a"}, nil
		}
		l.server.ParamSchema = func(string) ([]byte, bool) {
			return []byte(`{"properties":{"r":{"type":"string","x-mcp-header":"R"}}}`), true
		}
		l.settings(func(s *streamable.Settings) { s.MaxBodyBytes = 5000 })
		for step, want := range steps {
			wrong := func(what string) bool { return at[what] >= step }
			pick := func(what, bad, good string) string {
				if wrong(what) {
					return bad
				}
				return good
			}
			method := pick("the method", "ping", "tools/call")
			version := pick("the version", `"v999"`, `"2026-07-28"`)
			meta := `"io.modelcontextprotocol/protocolVersion":` + pick("the version's type", "5", version) +
				pick("the rest of the envelope", "", `,"io.modelcontextprotocol/clientCapabilities":{}`) +
				`,"io.modelcontextprotocol/logLevel":` + pick("the log level", `"loud"`, `"info"`)
			body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"name":"t","arguments":{"r":"eu"},"_meta":{%s}}}`, method, meta)
			body = pick("the shape", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}`, body)
			body = pick("the JSON", `{"jsonrpc":`, body)
			body += pick("the size", strings.Repeat(" ", 6000), "")
			c := call{method: pick("the HTTP method", "PUT", "POST"), body: body, header: map[string]string{
				"Content-Type": pick("the media type", "text/plain", "application/json"), "Accept": pick("what it accepts", "text/html", "*/*"),
				"MCP-Protocol-Version": pick("the version header", "2027-01-01", strings.Trim(version, `"`)), "Mcp-Method": pick("Mcp-Method", "x", method),
				"Mcp-Name": pick("Mcp-Name", "other", "t"), "Mcp-Param-R": pick("Mcp-Param", "us", "eu"), "Authorization": pick("no token", "-", "Bearer x"),
			}}
			if wrong("the origin") {
				c.header["Origin"] = "https://evil.example"
			}
			if wrong("a field that came twice") {
				c.lines = http.Header{"Mcp-Name": {"again"}}
			}
			before := b.served()
			a := l.ask(c)
			if a.status != want.status || a.code() != want.code {
				t.Errorf("%s: %d %s", want.wrong, a.status, a.body)
			}
			if served := b.served() > before; served != (want.wrong == "nothing") {
				t.Errorf("%s: it reached the server: %v", want.wrong, served)
			}
		}
	})
}
