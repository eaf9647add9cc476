package proxy_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// The whole way: HTTP front, proxy, pipe to a real process and back. The
// process's own work is in the wall time and not in the allocations.
func BenchmarkCallOverStdio(b *testing.B) {
	r := serve(b, plain(script{"tools/call": {`{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"ok"}]}}`}}))
	for name, c := range map[string]*client{"legacy": r.legacy(), "modern": r.modern()} {
		b.Run(name, func(b *testing.B) {
			body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":1}}}`
			if c.session == "" {
				body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":1},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"0"}}}}`
			}
			b.ReportAllocs()
			for b.Loop() {
				req, _ := http.NewRequest(http.MethodPost, r.url, strings.NewReader(body))
				req.Header.Set("Accept", "application/json, text/event-stream")
				req.Header.Set("Content-Type", "application/json")
				req.Header.Set("Mcp-Protocol-Version", c.revision)
				if c.session != "" {
					req.Header.Set("Mcp-Session-Id", c.session)
				} else {
					req.Header.Set("Mcp-Method", "tools/call")
					req.Header.Set("Mcp-Name", "x")
				}
				resp, err := r.http.Do(req)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != 200 {
					b.Fatal(resp.StatusCode, err)
				}
				resp.Body.Close()
			}
		})
	}
}
