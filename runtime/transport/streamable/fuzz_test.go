package streamable_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/runtime/transport/streamable"
)

// FuzzRequest: whatever is sent, the answer is one that the protocol has, and
// is JSON or an event stream of JSON. Nothing panics.
func FuzzRequest(f *testing.F) {
	keys := &seal.Keyring{}
	if err := keys.LoadEphemeral(); err != nil {
		f.Fatal(err)
	}
	server := &streamable.Server{Handler: &backend{}, Keys: keys, Pod: "pod"}
	w := httptest.NewRecorder()
	r := httptest.NewRequest("POST", "/mcp", strings.NewReader(initialize("2025-03-26", "{}")))
	r.Header.Set("Content-Type", "application/json")
	server.ServeHTTP(w, r)
	session := w.Header().Get("Mcp-Session-Id")
	f.Add("POST", list, "application/json", "*/*", "", "", "", "", true)
	f.Add("POST", `[`+list+`]`, "application/json", "text/event-stream", "2025-03-26", "", "", "", true)
	f.Add("POST", modernCall, "application/json", "", "2026-07-28", "tools/call", "slow", "", false)
	f.Add("POST", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}`, "application/json", "", "", "", "", "", true)
	f.Add("DELETE", "", "", "", "", "", "", "", false)
	f.Add("OPTIONS", "", "", "", "", "", "", "https://a", false)
	f.Fuzz(func(t *testing.T, method, body, media, accept, version, mirror, name, origin string, open bool) {
		if method == "GET" || method == "DELETE" && open { // would wait, would end the session
			return
		}
		r := httptest.NewRequest("POST", "/mcp", strings.NewReader(body))
		r.Method = method
		for field, value := range map[string]string{"Content-Type": media, "Accept": accept, "Mcp-Protocol-Version": version, "Mcp-Method": mirror, "Mcp-Name": name, "Origin": origin} {
			if value != "" {
				r.Header[field] = []string{value}
			}
		}
		if open {
			r.Header.Set("Mcp-Session-Id", session)
		}
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		switch w.Code {
		case 200, 202, 204, 400, 401, 403, 404, 405, 406, 413, 415, 417, 431:
		default:
			t.Fatalf("status %d: %s", w.Code, w.Body)
		}
		switch w.Header().Get("Content-Type") {
		case "application/json":
			if _, err := jsonrpc.Parse(w.Body.Bytes(), strictjson.FromClient); err != nil {
				t.Fatalf("%v in %s", err, w.Body)
			}
		case "text/event-stream":
			for _, e := range parse(w.Body.String()) {
				if !e.IsMessage() {
					continue
				}
				if _, err := jsonrpc.Parse(e.Data, strictjson.FromClient); err != nil {
					t.Fatalf("%v in %s", err, w.Body)
				}
			}
		default:
			if w.Body.Len() > 0 {
				t.Fatalf("%d with %q", w.Code, w.Body)
			}
		}
		if w.Code == http.StatusAccepted && w.Body.Len() > 0 {
			t.Fatal("a body in a 202")
		}
	})
}

// FuzzResume: whatever comes as Last-Event-ID, the session lives on, and nothing
// of another stream comes out (P2, W9.8).
func FuzzResume(f *testing.F) {
	keys := &seal.Keyring{Server: "uid"}
	if err := keys.LoadEphemeral(); err != nil {
		f.Fatal(err)
	}
	server := &streamable.Server{Handler: &backend{serve: progressThenDone}, Keys: keys, Pod: "pod"}
	ask := func(r *http.Request, id string) *httptest.ResponseRecorder {
		r.Header.Set("Content-Type", "application/json")
		if id != "" {
			r.Header.Set("Mcp-Session-Id", id)
		}
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		return w
	}
	open := func() (id, event string) {
		w := ask(httptest.NewRequest("POST", "/mcp", strings.NewReader(initialize("2025-11-25", "{}"))), "")
		id = w.Header().Get("Mcp-Session-Id")
		w = ask(httptest.NewRequest("POST", "/mcp", strings.NewReader(callTool)), id)
		events := parse(w.Body.String())
		return id, events[0].ID
	}
	id, own := open()
	_, foreign := open()
	for _, seed := range []string{own, foreign, own + "0", strings.TrimSuffix(own, "1") + "999999999999999999999", ".", "1", "", own[:20], "a.b.1", "\xff.1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, last string) {
		gone, cancel := context.WithCancel(t.Context())
		cancel() // a stream that would go on ends at once
		r := httptest.NewRequest("GET", "/mcp", nil).WithContext(gone)
		r.Header.Set("Accept", "text/event-stream")
		r.Header["Last-Event-Id"] = []string{last}
		w := ask(r, id)
		if w.Code != 200 && w.Code != 405 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		for _, e := range parse(w.Body.String()) {
			if e.IsMessage() && !strings.HasPrefix(last, strings.TrimSuffix(own, ".1")) {
				t.Fatalf("%q brought %s", last, e.Data)
			}
		}
	})
}
