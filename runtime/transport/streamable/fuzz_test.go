package streamable_test

import (
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
		case 200, 202, 204, 400, 401, 403, 404, 405, 406, 413, 415:
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
