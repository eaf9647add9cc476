package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/server"
	"github.com/fairlead-dev/fairlead/runtime/sse"
	"github.com/fairlead-dev/fairlead/runtime/transport/streamable"
)

// rig is a server behind the real front on loopback.
type rig struct {
	t      *testing.T
	front  *streamable.Server
	url    string
	client *http.Client
	token  string
	accept string
}

func newRig(t *testing.T, s *server.Server) *rig {
	t.Helper()
	keys := &seal.Keyring{Server: "test"}
	if err := keys.LoadEphemeral(); err != nil {
		t.Fatal(err)
	}
	front := &streamable.Server{Handler: s, Keys: keys, Pod: "pod", ParamSchema: s.ParamSchema}
	ts := httptest.NewServer(front)
	r := &rig{t: t, front: front, url: ts.URL + "/mcp", client: ts.Client()}
	t.Cleanup(func() {
		s.Close()
		front.Cut(io.EOF)
		ts.Client().CloseIdleConnections()
		ts.Close()
	})
	return r
}

// peer is one client of a revision.
type peer struct {
	*rig
	revision string
	modern   bool
	caps     string
	session  string
	opened   json.RawMessage // the initialize result

	mu sync.Mutex
	id int
	// answer answers reverse calls.
	answer func(method string, params json.RawMessage) string
	// notes are the notifications that came on requests.
	notes []message
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *rpcError       `json:"error"`
}

type rpcError struct {
	Code    int64           `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

func (e *rpcError) Error() string { return fmt.Sprintf("%d: %s", e.Code, e.Message) }

// connect makes a client; legacy ones shake hands.
func (r *rig) connect(revision, caps string) *peer {
	r.t.Helper()
	p := &peer{rig: r, revision: revision, caps: caps}
	profile, ok := mcp.Lookup(revision)
	if !ok {
		r.t.Fatalf("no revision %s", revision)
	}
	p.modern = !profile.Handshake
	if p.modern {
		return p
	}
	p.opened = p.must("initialize", fmt.Sprintf(`{"protocolVersion":%q,"capabilities":%s,"clientInfo":{"name":"t","version":"1"}}`, revision, caps))
	p.notify("notifications/initialized", "")
	return p
}

func (p *peer) must(method, params string) json.RawMessage {
	p.t.Helper()
	result, err := p.call(method, params)
	if err != nil {
		p.t.Fatalf("%s %s on %s: %v %s", method, params, p.revision, err, err.Data)
	}
	return result
}

func (p *peer) fails(method, params string) *rpcError {
	p.t.Helper()
	result, err := p.call(method, params)
	if err == nil {
		p.t.Fatalf("%s %s on %s: got %s, want an error", method, params, p.revision, result)
	}
	return err
}

func (p *peer) notify(method, params string) {
	p.t.Helper()
	if params == "" {
		params = "{}"
	}
	resp := p.post(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params), method, "")
	_ = resp.Body.Close()
}

// call makes one request and reads its answer, serving what comes before it.
func (p *peer) call(method, params string) (json.RawMessage, *rpcError) {
	p.t.Helper()
	resp := p.begin(method, params)
	defer func() { _ = resp.Body.Close() }()
	var last *message
	p.read(resp, func(m message) bool {
		last = &m
		return false
	})
	if last == nil {
		p.t.Fatalf("%s: no answer, status %s", method, resp.Status)
	}
	return last.Result, last.Error
}

// begin sends one request.
func (p *peer) begin(method, params string) *http.Response {
	p.t.Helper()
	if params == "" {
		params = "{}"
	}
	if p.modern {
		params = p.enveloped(params)
	}
	p.mu.Lock()
	p.id++
	id := p.id
	p.mu.Unlock()
	var named struct{ Name, URI string }
	_ = json.Unmarshal([]byte(params), &named)
	name := named.Name
	if method == "resources/read" {
		name = named.URI
	}
	return p.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params), method, name)
}

// enveloped adds what a request of 2026-07-28 carries.
func (p *peer) enveloped(params string) string {
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(params), &object); err != nil {
		p.t.Fatalf("%s: %v", params, err)
	}
	meta := map[string]json.RawMessage{}
	if object["_meta"] != nil {
		_ = json.Unmarshal(object["_meta"], &meta)
	}
	meta[mcp.MetaProtocolVersion] = json.RawMessage(strconv.Quote(p.revision))
	meta[mcp.MetaClientCapabilities] = json.RawMessage(p.caps)
	object["_meta"], _ = json.Marshal(meta)
	out, _ := json.Marshal(object)
	return string(out)
}

func (p *peer) post(body, method, name string) *http.Response {
	p.t.Helper()
	req, err := http.NewRequestWithContext(context.WithoutCancel(p.t.Context()), http.MethodPost, p.url, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if p.accept != "" {
		req.Header.Set("Accept", p.accept)
	}
	if p.token != "" {
		req.Header.Set("Authorization", "Bearer "+p.token)
	}
	if p.modern {
		req.Header.Set("MCP-Protocol-Version", p.revision)
		req.Header.Set("Mcp-Method", method)
		if name != "" {
			req.Header.Set("Mcp-Name", name)
		}
	} else if p.session != "" {
		req.Header.Set("Mcp-Session-Id", p.session)
	}
	resp, err := p.client.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
		p.session = id
	}
	return resp
}

// read reads an answer's messages: reverse calls are answered, notifications
// kept, each response is given to yield until it returns false.
func (p *peer) read(resp *http.Response, yield func(message) bool) {
	p.each(resp, func(m message) bool {
		switch {
		case m.Method != "" && m.ID != nil:
			p.reply(m)
		case m.Method != "":
			p.mu.Lock()
			p.notes = append(p.notes, m)
			p.mu.Unlock()
		default:
			return yield(m)
		}
		return true
	})
}

// each gives every message of an answer to yield until it returns false.
func (p *peer) each(resp *http.Response, yield func(message) bool) {
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		raw, _ := io.ReadAll(resp.Body)
		var m message
		if json.Unmarshal(raw, &m) == nil {
			yield(m)
		}
		return
	}
	events := sse.Reader{R: resp.Body, MaxEvent: 1 << 20}
	for {
		ev, err := events.Next()
		if err != nil {
			return
		}
		if !ev.IsMessage() || len(bytes.TrimSpace(ev.Data)) == 0 {
			continue
		}
		var m message
		if err := json.Unmarshal(ev.Data, &m); err != nil {
			p.t.Errorf("event %s: %v", ev.Data, err)
			return
		}
		if !yield(m) {
			return
		}
	}
}

func (p *peer) reply(m message) {
	if p.answer == nil {
		p.t.Errorf("%s came unexpectedly", m.Method)
		return
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, m.ID, p.answer(m.Method, m.Params))
	_ = p.post(body, "", "").Body.Close()
}

// each runs a test for clients of every revision.
func each(t *testing.T, s func() *server.Server, caps string, run func(t *testing.T, p *peer)) {
	t.Helper()
	for _, revision := range mcp.Revisions() {
		t.Run(revision, func(t *testing.T) { run(t, newRig(t, s()).connect(revision, caps)) })
	}
}

// field reads a member of a JSON object by a path of names and indexes.
func field(raw json.RawMessage, path ...any) string {
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return "not JSON"
	}
	for _, step := range path {
		switch step := step.(type) {
		case string:
			object, _ := v.(map[string]any)
			var ok bool
			if v, ok = object[step]; !ok {
				return "none"
			}
		case int:
			list, _ := v.([]any)
			if step >= len(list) {
				return "none"
			}
			v = list[step]
		}
	}
	if text, ok := v.(string); ok {
		return text
	}
	out, _ := json.Marshal(v)
	return string(out)
}
