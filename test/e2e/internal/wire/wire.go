// Package wire is a MCP client that does one exchange at a time and hides
// nothing: the HTTP status, the session id and the message are the caller's to
// judge. For what SDK clients would paper over.
package wire

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"
)

// The revisions spoken here.
const (
	Legacy = "2025-11-25"
	Modern = "2026-07-28"
)

const (
	info     = `{"name":"fairlead-e2e","version":"1.0.0"}`
	maxBody  = 8 << 20
	deadline = time.Minute // of one exchange
)

// Reply is what came back to one POST.
type Reply struct {
	Status  int
	Session string // Mcp-Session-Id of the answer
	Result  json.RawMessage
	Error   *Error
	Body    string // as it came
}

// Error is a JSON-RPC error.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

// Text is the first text of a tool's result. It is an error when the reply is
// anything but a successful result.
func (r *Reply) Text() (string, error) {
	if r.Status != http.StatusOK {
		return "", fmt.Errorf("HTTP %d: %.300s", r.Status, r.Body)
	}
	if r.Error != nil {
		return "", fmt.Errorf("JSON-RPC error %d: %s %s", r.Error.Code, r.Error.Message, r.Error.Data)
	}
	var res struct {
		IsError bool
		Content []struct{ Text string }
	}
	if err := json.Unmarshal(r.Result, &res); err != nil || len(res.Content) == 0 {
		return "", fmt.Errorf("no tool result in %.300q: %w", r.Body, err)
	}
	if res.IsError {
		return "", fmt.Errorf("tool error: %s", res.Content[0].Text)
	}
	return res.Content[0].Text, nil
}

// Client posts to one endpoint. Its connections are kept alive; a client of
// its own is what reaches another pod. Not for concurrent use.
type Client struct {
	URL     string
	session string
	id      int
	http    *http.Client
}

// New makes a client of 2026-07-28; Open makes it one of 2025-11-25.
func New(url string) *Client {
	return &Client{URL: url, http: &http.Client{Transport: &http.Transport{}, Timeout: deadline}}
}

// Close drops the connections, not the session.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Open begins a session.
func (c *Client) Open(ctx context.Context) error {
	c.id++
	r, err := c.post(ctx, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":%s}}`, c.id, Legacy, info), nil)
	if err != nil {
		return err
	}
	if r.Status != http.StatusOK || r.Error != nil || r.Session == "" {
		return fmt.Errorf("initialize: HTTP %d: %.300s", r.Status, r.Body)
	}
	c.session = r.Session
	r, err = c.post(ctx, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, c.legacy())
	if err != nil {
		return err
	}
	if r.Status != http.StatusAccepted {
		return fmt.Errorf("notifications/initialized: HTTP %d: %.300s", r.Status, r.Body)
	}
	return nil
}

// Call calls a tool, in the session when there is one.
func (c *Client) Call(ctx context.Context, tool, args string) (*Reply, error) {
	c.id++
	if c.session != "" {
		return c.post(ctx, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, c.id, tool, args), c.legacy())
	}
	return c.post(ctx, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{`+
		`"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientInfo":%s,"io.modelcontextprotocol/clientCapabilities":{}}}}`,
		c.id, tool, args, Modern, info), map[string]string{"MCP-Protocol-Version": Modern, "Mcp-Method": "tools/call", "Mcp-Name": tool})
}

// Text calls a tool and returns its first text.
func (c *Client) Text(ctx context.Context, tool, args string) (string, error) {
	r, err := c.Call(ctx, tool, args)
	if err != nil {
		return "", err
	}
	return r.Text()
}

func (c *Client) legacy() map[string]string {
	return map[string]string{"MCP-Protocol-Version": Legacy, "Mcp-Session-Id": c.session}
}

func (c *Client) post(ctx context.Context, body string, header map[string]string) (*Reply, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	// A body that cannot be read again: net/http must not repeat the request.
	req.GetBody = nil
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for k, v := range header {
		req.Header.Set(k, v)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err != nil {
		return nil, err
	}
	r := &Reply{Status: resp.StatusCode, Session: resp.Header.Get("Mcp-Session-Id"), Body: string(raw)}
	for _, message := range messages(resp.Header.Get("Content-Type"), raw) {
		var m struct {
			Method string          `json:"method"`
			Result json.RawMessage `json:"result"`
			Error  *Error          `json:"error"`
		}
		if json.Unmarshal(message, &m) == nil && m.Method == "" && (m.Result != nil || m.Error != nil) {
			r.Result, r.Error = m.Result, m.Error
		}
	}
	return r, nil
}

// messages splits a body into JSON-RPC messages.
func messages(contentType string, raw []byte) [][]byte {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil || media != "text/event-stream" {
		return [][]byte{raw}
	}
	var out [][]byte
	sc := bufio.NewScanner(bytes.NewReader(raw))
	sc.Buffer(nil, maxBody)
	for sc.Scan() {
		if data, ok := strings.CutPrefix(sc.Text(), "data:"); ok {
			out = append(out, []byte(strings.TrimSpace(data)))
		}
	}
	return out
}
