package guard_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/auth/guard"
	"github.com/fairlead-dev/fairlead/runtime/mcptest"
	"github.com/fairlead-dev/fairlead/runtime/middleware"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/server"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/runtime/task"
	"github.com/fairlead-dev/fairlead/runtime/transport/streamable"
)

// stack is a whole server behind a guard: what the pieces are for together.
// Call it in a bubble of synctest.
type stack struct {
	t       *testing.T
	web     *mcptest.Web
	server  *server.Server
	front   *streamable.Server
	id      int
	revoked map[string]bool
}

// life is how long tokens of the stack are good.
const life = time.Hour

// users: the token is the name, with 16 bytes and more; what follows a dash are
// scopes.
func (s *stack) check(_ context.Context, token string, _ *http.Request) (*auth.Identity, error) {
	name, scopes, _ := strings.Cut(strings.TrimPrefix(token, "token-of-a-user."), "-")
	if !strings.HasPrefix(token, "token-of-a-user.") || s.revoked[token] {
		return nil, auth.Refuse(auth.InvalidToken, "the token is not known here")
	}
	return &auth.Identity{Principal: name, Scopes: auth.NormalScopes(strings.Split(scopes, ".")), Expires: time.Now().Add(life)}, nil
}

func token(name string) string {
	if name == "" {
		return ""
	}
	return "token-of-a-user." + name
}

func newStack(t *testing.T, edit func(*guard.Options), receive middleware.Middleware) *stack {
	t.Helper()
	s := &stack{t: t, revoked: map[string]bool{}}
	o := guard.Options{Checker: auth.CheckerFunc(s.check), Resource: "http://localhost/mcp", AuthorizationServers: []string{"https://as.example"}}
	if edit != nil {
		edit(&o)
	}
	g, err := guard.New(o)
	must(t, err)
	keys := &seal.Keyring{Server: "test"}
	must(t, keys.LoadEphemeral())
	engine, err := task.New(task.Options{Keys: keys})
	must(t, err)
	s.server = server.New(server.Info{Name: "s", Version: "1"}, server.Options{Keys: keys, Tasks: engine})
	must(t, server.AddTool(s.server, server.Tool{Name: "who"}, func(c *server.Context, _ struct{}) (string, error) {
		return "you are " + c.Principal(), nil
	}))
	must(t, server.AddTool(s.server, server.Tool{Name: "write", Scopes: []string{"write", "read"}}, func(*server.Context, struct{}) (string, error) {
		return "written", nil
	}))
	must(t, s.server.AddTool(server.Tool{Name: "confirm"}, func(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
		if _, err := c.Elicit("sure", server.ElicitParams{Message: "Sure?", Schema: json.RawMessage(`{"type":"object","properties":{}}`)}); err != nil {
			return nil, err
		}
		return server.TextResult("confirmed by " + c.Principal()), nil
	}))
	must(t, server.AddTool(s.server, server.Tool{Name: "job", TaskSupport: server.TaskOptional}, func(c *server.Context, _ struct{}) (string, error) {
		<-c.Done()
		return "", c.Err()
	}))
	must(t, server.AddTool(s.server, server.Tool{Name: "alices", Visible: func(who server.Caller) bool { return who.Principal == "alice" }}, func(*server.Context, struct{}) (string, error) {
		return "for alice", nil
	}))
	must(t, s.server.AddResource(server.Resource{URI: "test://note", Name: "note"}, func(*server.Context, server.ReadRequest) (server.ResourceOutcome, error) {
		return server.TextResource("text/plain", "x"), nil
	}))
	s.front = &streamable.Server{Handler: s.server, Keys: keys, Pod: "pod", Authenticate: g.Authenticate, Challenge: g.Challenge, ParamSchema: s.server.ParamSchema, Receive: receive}
	s.web = mcptest.Virtual(t, g.Handler(s.front), nil)
	t.Cleanup(func() {
		s.server.Close()
		s.front.Cut(io.EOF)
		if err := engine.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// reply is an HTTP answer; message is its last JSON-RPC message.
type reply struct {
	status  int
	header  http.Header
	body    string
	message []byte
}

func (r reply) get(path ...string) string {
	raw, _ := strictjson.GetPath(r.message, path...)
	if text, ok := strictjson.String(raw); ok {
		return text
	}
	return string(raw)
}

func (s *stack) open(ctx context.Context, method, user, body string, header ...string) *http.Response {
	s.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, s.web.URL+"/mcp", strings.NewReader(body))
	must(s.t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(header); i += 2 {
		if header[i+1] != "" {
			r.Header.Set(header[i], header[i+1])
		}
	}
	if user != "" {
		r.Header.Set("Authorization", "Bearer "+token(user))
	}
	resp, err := s.web.Client.Do(r)
	must(s.t, err)
	return resp
}

func read(t *testing.T, resp *http.Response) reply {
	t.Helper()
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	must(t, err)
	out := reply{status: resp.StatusCode, header: resp.Header, body: string(raw), message: raw}
	for line := range bytes.Lines(raw) {
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok && len(bytes.TrimSpace(data)) > 0 {
			out.message = bytes.TrimSpace(data)
		}
	}
	return out
}

// legacy makes a request in a session.
func (s *stack) legacy(user, session, method, params string) reply {
	s.t.Helper()
	s.id++
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, s.id, method, params)
	return read(s.t, s.open(s.t.Context(), "POST", user, body, "Mcp-Session-Id", session))
}

// session opens one.
func (s *stack) session(user string) string {
	s.t.Helper()
	r := s.legacy(user, "", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}`)
	id := r.header.Get("Mcp-Session-Id")
	if id == "" {
		s.t.Fatalf("no session: %d %s", r.status, r.body)
	}
	_ = s.open(s.t.Context(), "POST", user, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "Mcp-Session-Id", id).Body.Close()
	return id
}

// hear reads a GET stream for a while.
func (s *stack) hear(user, session, last string, d time.Duration) string {
	s.t.Helper()
	ctx, stop := context.WithTimeout(s.t.Context(), d)
	defer stop()
	resp := s.open(ctx, "GET", user, "", "Mcp-Session-Id", session, "Last-Event-ID", last)
	defer resp.Body.Close()
	raw, _ := io.ReadAll(resp.Body) // until the time is over
	return string(raw)
}

const modernCaps = `{"elicitation":{"form":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}`

// modernOpen begins a request of 2026-07-28. params are members.
func (s *stack) modernOpen(ctx context.Context, user, method, name, params string) *http.Response {
	s.t.Helper()
	s.id++
	full := strings.Replace(mcptest.Modern(params), `clientCapabilities":{}`, `clientCapabilities":`+modernCaps, 1)
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, s.id, method, full)
	return s.open(ctx, "POST", user, body, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", method, "Mcp-Name", name)
}

func (s *stack) modern(user, method, name, params string) reply {
	s.t.Helper()
	return read(s.t, s.modernOpen(s.t.Context(), user, method, name, params))
}
