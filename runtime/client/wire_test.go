package client

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// plain is a logger without time.
func plain(b *bytes.Buffer) *slog.Logger {
	return slog.New(slog.NewJSONHandler(b, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey && a.Value.Kind() == slog.KindTime {
			return slog.Attr{}
		}
		return a
	}}))
}

// P35: the wire-logging transport shows both directions, and no secret.
func TestWireLog(t *testing.T) {
	var b bytes.Buffer
	s := legacy(func(f *fake, m *jsonrpc.Message) {
		f.result(m, `{"content":[],"access_token":"hush","long":"`+strings.Repeat("é", MaxWireLog)+`"}`)
	})
	bubble(t, s, Options{Wire: WireLog(plain(&b), slog.LevelDebug)}, func(t *testing.T, c *Client) {
		if _, err := c.CallTool(t.Context(), "x", map[string]string{"password": "hush"}, OnProgress(func(Progress) {})); err != nil {
			t.Fatal(err)
		}
	})
	out := b.String()
	if strings.Contains(out, "hush") {
		t.Error("a secret was shown")
	}
	var directions []string
	for line := range strings.Lines(out) {
		var r struct {
			Direction, Message string
			Bytes              int
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.Bytes == 0 || r.Message == "" {
			t.Error(line, err)
		}
		if len(r.Message) > MaxWireLog+len("…")+2 { // two for a split letter
			t.Errorf("%d bytes are shown", len(r.Message))
		}
		directions = append(directions, r.Direction)
	}
	if got := strings.Join(directions, " "); got != "sent received sent received sent sent received" {
		t.Error(got)
	}
	if !strings.Contains(out, `progressToken\":`) || strings.Contains(out, `progressToken\":\"[redacted]`) {
		t.Error("a progress token is no secret")
	}
}

// The wire of an inline link is seen too, failures included.
func TestWireOfHTTP(t *testing.T) {
	var seen []string
	f := &flaky{fail: func(int, string) error { return &peer.Failure{Reason: peer.StreamLost} }}
	c, err := Connect(t.Context(), Options{Server: f, Wire: func(r WireRecord) {
		line := "received"
		if r.Sent {
			line = "sent"
		}
		if r.Err != nil {
			line += " " + r.Err.Error()
		}
		seen = append(seen, line)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = c.CallTool(t.Context(), "x", nil)
	if got := strings.Join(seen, ","); got != "sent,received,sent,sent stream_lost" {
		t.Error(got)
	}
}

func TestRedacted(t *testing.T) {
	for raw, want := range map[string]string{
		`{"a":1.0,"Authorization":"x"}`:                          `{"a":1.0,"Authorization":"[redacted]"}`,
		`{"a":[{"clientSecret":"x"},"token"]}`:                   `{"a":[{"clientSecret":"[redacted]"},"token"]}`,
		`{"token":["a","b"],"tokens":{"n":"x","password":1}}`:    `{"token":"[redacted]","tokens":{"n":"x","password":"[redacted]"}}`,
		`{"progressToken":1,"maxTokens":2,"requestState":"abc"}`: `{"progressToken":1,"maxTokens":2,"requestState":"[redacted]"}`,
		`{"\u0070assword":"x"}`:                                  `{"password":"[redacted]"}`,
		`talk`:                                                   ``,
	} {
		if got := string(Redacted([]byte(raw))); got != want {
			t.Errorf("%s: %s", raw, got)
		}
	}
}

func FuzzRedacted(f *testing.F) {
	for _, seed := range []string{`{"a":1}`, `[{"token":{"x":[1,2]}}]`, `{"\u0074oken":"\ud800"}`, `{"a":"\u2028","b":{"password":"p"}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		out := Redacted(raw)
		if (out == nil) != (strictjson.Scan(raw, strictjson.FromWorkload) != nil) {
			t.Fatal("what is JSON is shown, and nothing else")
		}
		if out != nil && strictjson.Scan(out, strictjson.FromWorkload) != nil {
			t.Fatalf("%q became %q, which is no JSON", raw, out)
		}
		if again := Redacted(out); out != nil && string(again) != string(out) {
			t.Fatalf("%q became %q", out, again)
		}
	})
}

// P35, W23.10: the bridge to slog.
func TestSlogHandler(t *testing.T) {
	var b bytes.Buffer
	var others []string
	h := SlogHandler(plain(&b), func(n Notification) { others = append(others, n.Method) }, func() time.Time { return time.Time{} })
	for _, p := range []string{
		`{"level":"debug","data":"d"}`,
		`{"level":"notice","logger":"db","data":{"message":"m","n":1.0}}`,
		`{"level":"emergency","data":{"msg":"x"}}`,
		`{"level":"what","data":[1]}`,
	} {
		h(Notification{Method: mcp.NotifyMessage, Params: json.RawMessage(p)})
	}
	h(Notification{Method: mcp.NotifyToolsChanged})
	const want = `{"level":"DEBUG","msg":"d"}
{"level":"INFO+2","msg":"m","logger":"db","data":{"message":"m","n":1.0}}
{"level":"ERROR+12","msg":"x","data":{"msg":"x"}}
{"level":"INFO","msg":"","data":[1]}
`
	if b.String() != want || len(others) != 1 {
		t.Errorf("got %s%v", b.String(), others)
	}
	for i, level := range []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"} {
		if i > 0 && slogLevel(level) <= slogLevel([]string{"debug", "info", "notice", "warning", "error", "critical", "alert"}[i-1]) {
			t.Errorf("%s is no higher", level)
		}
	}
}
