package streamable_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/sse"
	"github.com/fairlead-dev/fairlead/runtime/transport/streamable"
)

// P33.2: over HTTP/2 a stream that is reset is a disconnect, and many streams
// share one connection.
func TestHTTP2(t *testing.T) {
	b := &backend{}
	h := hold()
	b.serve = h.handle
	keys := &seal.Keyring{}
	if err := keys.LoadEphemeral(); err != nil {
		t.Fatal(err)
	}
	server := &streamable.Server{Handler: b, Keys: keys, Pod: "pod"}
	web := httptest.NewUnstartedServer(server)
	web.EnableHTTP2 = true
	web.StartTLS()
	defer web.Close()
	defer func() { _ = server.Shutdown(context.Background(), errors.New("over")) }()
	post := func(ctx context.Context, body string, header map[string]string) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(ctx, "POST", web.URL+"/mcp", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		for k, v := range header {
			r.Header.Set(k, v)
		}
		res, err := web.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if res.ProtoMajor != 2 {
			t.Fatal(res.Proto)
		}
		return res
	}
	res := post(t.Context(), initialize("2025-11-25", "{}"), nil)
	id := res.Header.Get("Mcp-Session-Id")
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	for range 50 {
		ctx, reset := context.WithCancel(t.Context())
		go func() { _ = (<-h.exchanges).Notify(progress(1)) }()
		res := post(ctx, modernCall, modern("tools/call", "Mcp-Name", "slow"))
		ev, err := (&sse.Reader{R: res.Body}).Next()
		if err != nil || !bytes.Equal(ev.Data, progress(1)) {
			t.Fatalf("%s, %v", ev.Data, err)
		}
		reset()
		if cause := <-h.ended; !errors.Is(cause, dispatch.ErrDisconnected) {
			t.Fatalf("cause %v", cause)
		}
		_ = res.Body.Close()
	}
	res = post(t.Context(), `{"jsonrpc":"2.0","id":1,"method":"ping"}`, on(id))
	text, _ := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if res.StatusCode != 200 || string(text) != `{"jsonrpc":"2.0","id":1,"result":{}}` {
		t.Errorf("%d %s", res.StatusCode, text)
	}
	web.Client().CloseIdleConnections()
}

// P33.4: who has no token is not asked for the body.
func TestExpectContinueWithoutAToken(t *testing.T) {
	inLab(t, &backend{}, func(l *lab) {
		l.server.Authenticate = func(*http.Request) (*auth.Identity, error) {
			return nil, &streamable.Denied{Status: 401, Message: "no"}
		}
		const head = "POST /mcp HTTP/1.1\r\nHost: mcp.example\r\nContent-Type: application/json\r\nContent-Length: 5000\r\nExpect: 100-continue\r\n\r\n"
		if res := l.raw(head, nil); res.StatusCode != 401 {
			t.Errorf("without a token: %d", res.StatusCode)
		}
	})
}
