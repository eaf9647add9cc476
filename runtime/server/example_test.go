package server_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/middleware"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/server"
	"github.com/fairlead-dev/fairlead/runtime/transport/streamable"
)

// A server in twenty lines: one URL for clients of every revision.
func Example() {
	type in struct {
		Name string `json:"name" jsonschema:"whom to greet"`
	}
	s := server.New(server.Info{Name: "greeter", Version: "1.0"}, server.Options{})
	err := server.AddTool(s, server.Tool{Name: "greet", Description: "Says hello."}, func(_ *server.Context, in in) (string, error) {
		return "Hello, " + in.Name + "!", nil
	})
	if err != nil {
		log.Fatal(err)
	}
	keys := &seal.Keyring{Server: "greeter"}
	if err := keys.LoadEphemeral(); err != nil {
		log.Fatal(err)
	}
	front := &streamable.Server{Handler: s, Keys: keys, ParamSchema: s.ParamSchema}
	// http.Server{Handler: front, ReadHeaderTimeout: 10 * time.Second}.ListenAndServe()

	fmt.Println(ask(front, "tools/call", `"name":"greet","arguments":{"name":"Ada"}`))
	// Output: {"content":[{"type":"text","text":"Hello, Ada!"}],"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"greeter","version":"1.0"}}}
}

// A tool whose schemas come from Go types: arguments are validated before it
// runs, and what it returns is held against its output schema.
func ExampleAddTool() {
	type in struct {
		City string `json:"city" jsonschema:"name of the city"`
		Unit string `json:"unit,omitempty" schema:"enum=C|F,default=C"`
	}
	type out struct {
		Degrees int    `json:"degrees"`
		Unit    string `json:"unit"`
	}
	s := server.New(server.Info{Name: "weather", Version: "1.0"}, server.Options{})
	err := server.AddTool(s, server.Tool{Name: "temperature"}, func(_ *server.Context, in in) (out, error) {
		if in.City == "" {
			return out{}, errors.New("which city?") // the model reads it
		}
		return out{Degrees: 21, Unit: in.Unit}, nil
	})
	if err != nil {
		log.Fatal(err)
	}
	schema, _ := s.ParamSchema("temperature")
	fmt.Println(string(schema))
	// Output: {"type":"object","properties":{"city":{"type":"string","description":"name of the city"},"unit":{"type":"string","default":"C","enum":["C","F"]}},"required":["city"],"additionalProperties":false}
}

// A handler that asks the user is the same for clients of every revision.
// Where a server may not call its client, Elicit returns an error that the
// handler returns as well; it runs again once the answer is there.
func ExampleContext_Elicit() {
	type confirmation struct {
		Sure bool `json:"sure"`
	}
	s := server.New(server.Info{Name: "files", Version: "1.0"}, server.Options{})
	err := server.AddTool(s, server.Tool{Name: "delete"}, func(c *server.Context, _ struct{}) (string, error) {
		answer, ok, err := server.ElicitAs[confirmation](c, "confirm", "Delete everything?")
		if err != nil {
			return "", err
		}
		if !ok || !answer.Sure {
			return "nothing was deleted", nil
		}
		return "deleted", nil
	})
	if err != nil {
		log.Fatal(err)
	}
	keys := &seal.Keyring{Server: "files"}
	if err := keys.LoadEphemeral(); err != nil {
		log.Fatal(err)
	}
	front := &streamable.Server{Handler: s, Keys: keys}
	first := ask(front, "tools/call", `"name":"delete"`)
	fmt.Println(strings.Contains(first, `"resultType":"input_required"`))
	fmt.Println(strings.Contains(ask(front, "tools/call", `"name":"delete","inputResponses":{"confirm":{"action":"accept","content":{"sure":true}}}`), "deleted"))
	// Output:
	// true
	// true
}

// A middleware sees every message that a client sends, whatever its revision
// and transport.
func Example_middleware() {
	s := server.New(server.Info{Name: "audited", Version: "1.0"}, server.Options{})
	err := server.AddTool(s, server.Tool{Name: "noop"}, func(*server.Context, struct{}) (string, error) { return "done", nil })
	if err != nil {
		log.Fatal(err)
	}
	audit := func(next middleware.Handler) middleware.Handler {
		return func(ctx context.Context, m *middleware.Message) jsonrpc.Outcome {
			o := next(ctx, m)
			fmt.Printf("%s of revision %s, failed: %v\n", m.Method, m.Revision, o.Err != nil)
			return o
		}
	}
	keys := &seal.Keyring{Server: "audited"}
	if err := keys.LoadEphemeral(); err != nil {
		log.Fatal(err)
	}
	front := &streamable.Server{Handler: s, Keys: keys, Receive: middleware.Chain(audit)}
	ask(front, "tools/call", `"name":"noop"`)
	ask(front, "tools/call", `"name":"none"`)
	// Output:
	// tools/call of revision 2026-07-28, failed: false
	// tools/call of revision 2026-07-28, failed: true
}

// ask sends one request of 2026-07-28 to a server and returns its result.
func ask(h http.Handler, method, params string) string {
	ts := httptest.NewServer(h)
	defer ts.Close()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}`, method, params)
	req, err := http.NewRequest(http.MethodPost, ts.URL+"/mcp", strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	_, rest, _ := strings.Cut(params, `"name":"`)
	name, _, _ := strings.Cut(rest, `"`)
	for field, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name,
	} {
		req.Header.Set(field, value)
	}
	resp, err := ts.Client().Do(req)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		log.Fatal(err)
	}
	_, result, _ := strings.Cut(string(raw), `"result":`)
	return strings.TrimSuffix(result, "}")
}
