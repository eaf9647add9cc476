package dataplane

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/test/conformance/record"
)

// client speaks MCP by hand, so that a test sees every byte. Each client has
// connections of its own.
type client struct {
	t        *testing.T
	base     string
	http     *http.Client
	revision string
	session  string // empty for modern clients
	nextID   int
}

const modern = "2026-07-28"

func (p *pod) client(revision string) *client {
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	p.t.Cleanup(transport.CloseIdleConnections)
	return &client{t: p.t, base: p.public, revision: revision, http: &http.Client{Transport: record.Transport(transport, written(p.t))}}
}

// legacy returns a client with a session.
func (p *pod) legacy(revision string) *client {
	p.t.Helper()
	c := p.client(revision)
	r := c.initialize(`{}`)
	if r.status != http.StatusOK || r.session == "" {
		p.t.Fatalf("initialize: %v", r)
	}
	c.session = r.session
	if r := c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil); r.status != http.StatusAccepted {
		p.t.Fatalf("initialized: %v", r)
	}
	return c
}

func (c *client) initialize(capabilities string) reply {
	c.t.Helper()
	return c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%q,"capabilities":%s,"clientInfo":{"name":"test","version":"1"}}}`,
		c.revision, capabilities), nil)
}

// reply is a whole answer: its events, or its one body.
type reply struct {
	status   int
	header   http.Header
	session  string
	messages []message
	body     string
	err      error
	closed   bool // `Connection: close`
}

func (r reply) String() string { return fmt.Sprintf("%d %s %v", r.status, r.body, r.err) }

// last is the message that answers.
func (r reply) last() message {
	if len(r.messages) == 0 {
		return message{}
	}
	return r.messages[len(r.messages)-1]
}

// text is the text of a tool's answer.
func (r reply) text() string {
	var result struct{ Content []struct{ Text string } }
	if json.Unmarshal(r.last().Result, &result) != nil || len(result.Content) == 0 {
		return ""
	}
	return result.Content[0].Text
}

type message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    struct{ Reason string }
	}
}

// stream is a response that is being read.
type stream struct {
	resp   *http.Response
	lines  *bufio.Reader
	cancel context.CancelFunc
}

// next reads the next message of an event stream; io.EOF at its end.
func (s *stream) next() (message, string, error) {
	var data string
	for {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			return message{}, "", err
		}
		line = strings.TrimRight(line, "\r\n")
		if text, ok := strings.CutPrefix(line, "data:"); ok {
			data += strings.TrimPrefix(text, " ")
			continue
		}
		if line != "" || data == "" {
			continue
		}
		var m message
		if err := json.Unmarshal([]byte(data), &m); err != nil {
			return message{}, data, err
		}
		if m.Method == "" && m.ID == nil {
			data = "" // gives an event id only
			continue
		}
		return m, data, nil
	}
}

func (s *stream) close() {
	s.cancel()
	_ = s.resp.Body.Close()
}

// request makes a request that is not sent yet.
func (c *client) request(ctx context.Context, method, body string, header map[string]string) *http.Request {
	c.t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, c.base+"/mcp", strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Accept", "application/json, text/event-stream")
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.session != "" {
		req.Header.Set("Mcp-Session-Id", c.session)
		if c.revision >= "2025-06-18" {
			req.Header.Set("MCP-Protocol-Version", c.revision)
		}
	}
	for k, v := range header {
		if req.Header.Set(k, v); v == "" {
			req.Header.Del(k)
		}
	}
	return req
}

// open sends a message and returns the response while it is still coming.
func (c *client) open(method, body string, header map[string]string) (*stream, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	req := c.request(ctx, method, body, header)
	if strings.HasPrefix(req.URL.Host, "127.") && header["Host"] != "" {
		req.Host = header["Host"]
	}
	resp, err := c.http.Do(req)
	if err != nil {
		cancel()
		return nil, err
	}
	return &stream{resp: resp, lines: bufio.NewReader(resp.Body), cancel: cancel}, nil
}

// do sends a request and reads the whole answer.
func (c *client) do(method, body string, header map[string]string) (r reply) {
	s, err := c.open(method, body, header)
	if err != nil {
		return reply{err: err}
	}
	defer s.close()
	r = reply{status: s.resp.StatusCode, header: s.resp.Header, session: s.resp.Header.Get("Mcp-Session-Id"), closed: s.resp.Close}
	if strings.HasPrefix(s.resp.Header.Get("Content-Type"), "text/event-stream") {
		for {
			m, data, err := s.next()
			if err != nil {
				if err != io.EOF {
					r.err = err
				}
				return r
			}
			r.body += data + "\n"
			r.messages = append(r.messages, m)
		}
	}
	data, err := io.ReadAll(s.lines)
	r.body, r.err = string(data), err
	var m message
	if json.Unmarshal(data, &m) == nil {
		r.messages = []message{m}
	}
	return r
}

func (c *client) send(body string, header map[string]string) reply {
	return c.do(http.MethodPost, body, header)
}

// compose makes a request of the client's revision, and its headers.
func (c *client) compose(method, params string) (id, body string, header map[string]string) {
	c.nextID++
	id = fmt.Sprint(c.nextID)
	if c.revision != modern {
		return id, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params), nil
	}
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + modern + `","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	inner := strings.TrimSuffix(strings.TrimPrefix(params, "{"), "}")
	if inner != "" {
		inner += ","
	}
	header = map[string]string{"MCP-Protocol-Version": modern, "Mcp-Method": method}
	var named struct{ Name string }
	if json.Unmarshal([]byte(params), &named) == nil && named.Name != "" {
		header["Mcp-Name"] = named.Name
	}
	return id, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s%s}}`, id, method, inner, meta), header
}

// ask makes a request and returns the whole answer.
func (c *client) ask(method, params string) reply {
	_, body, header := c.compose(method, params)
	return c.send(body, header)
}

// call calls a tool.
func (c *client) call(tool, arguments string) reply {
	return c.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, arguments))
}

// must fails the test unless r answers with a result.
func (c *client) must(r reply) reply {
	c.t.Helper()
	if r.err != nil || r.status != http.StatusOK || r.last().Result == nil {
		c.t.Fatalf("no result: %v", r)
	}
	return r
}
