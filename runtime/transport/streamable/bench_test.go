package streamable_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/transport/streamable"
)

// sink is a response that goes nowhere.
type sink struct{ header http.Header }

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) Write(p []byte) (int, error) { return len(p), nil }
func (s *sink) WriteHeader(int)             {}
func (s *sink) FlushError() error           { return nil }

// BenchmarkServe is what one request costs above net/http.
func BenchmarkServe(b *testing.B) {
	keys := &seal.Keyring{}
	if err := keys.LoadEphemeral(); err != nil {
		b.Fatal(err)
	}
	back := &backend{serve: func(context.Context, *dispatch.Exchange) dispatch.Outcome {
		return dispatch.Result([]byte(`{"content":[{"type":"text","text":"hello"}]}`))
	}}
	server := &streamable.Server{Handler: back, Keys: keys, Pod: "0b6f8c1e-1111-2222-3333-444455556666"}
	post := func(body string, header map[string]string) *http.Request {
		r := httptest.NewRequest("POST", "/mcp", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		for k, v := range header {
			r.Header.Set(k, v)
		}
		return r
	}
	w := httptest.NewRecorder()
	server.ServeHTTP(w, post(initialize("2025-11-25", "{}"), nil))
	id := w.Header().Get("Mcp-Session-Id")
	legacy := `{"jsonrpc":"2.0","id":41,"method":"tools/call","params":{"name":"get_weather_forecast","arguments":{"city":"Berlin","units":"metric","days":3,"detailed":true}}}`
	modernBody := `{"jsonrpc":"2.0","id":41,"method":"tools/call","params":{"name":"get_weather_forecast","arguments":{"city":"Berlin","units":"metric"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}},"roots":{}},"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"}}}}`
	for name, tt := range map[string]struct {
		body   string
		header map[string]string
	}{
		"legacy":     {legacy, on(id)},
		"legacy SSE": {legacy, with(on(id), "Accept", "text/event-stream")},
		"modern":     {modernBody, modern("tools/call", "Mcp-Name", "get_weather_forecast")},
	} {
		b.Run(name, func(b *testing.B) {
			r := post(tt.body, tt.header)
			b.ReportAllocs()
			for b.Loop() {
				body := strings.NewReader(tt.body)
				r.Body = io.NopCloser(body)
				server.ServeHTTP(&sink{header: http.Header{}}, r)
			}
		})
	}
}

// BenchmarkIdleSession reports the memory of one session that does nothing.
func BenchmarkIdleSession(b *testing.B) {
	keys := &seal.Keyring{}
	if err := keys.LoadEphemeral(); err != nil {
		b.Fatal(err)
	}
	const n = 5000
	for b.Loop() {
		server := &streamable.Server{Handler: &backend{}, Keys: keys, Pod: "pod"}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		goroutines := runtime.NumGoroutine()
		for range n {
			r := httptest.NewRequest("POST", "/mcp", strings.NewReader(initialize("2025-11-25", `{"sampling":{},"elicitation":{},"roots":{"listChanged":true}}`)))
			r.Header.Set("Content-Type", "application/json")
			server.ServeHTTP(&sink{header: http.Header{}}, r)
		}
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/n, "B/session")
		b.ReportMetric(float64(runtime.NumGoroutine()-goroutines)/n, "goroutines/session")
		_ = server.Shutdown(b.Context(), io.EOF)
	}
}
