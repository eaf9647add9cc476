package httpsse_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/mcptest"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/transport/httpsse"
)

const caps = `{"sampling":{},"roots":{},"elicitation":{}}`

// lab is one server with a client, in virtual time.
type lab struct {
	*mcptest.Web
	t      *testing.T
	server *httpsse.Server

	mu       sync.Mutex
	rejected []hook.Reason
	ends     []hook.StreamEnd
	buffered int64
}

// inLab runs f with a server that works, and looks afterwards that nothing is
// left of it.
func inLab(t *testing.T, h dispatch.Server, set httpsse.Settings, f func(l *lab)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := &lab{t: t}
		keys := &seal.Keyring{Server: "uid"}
		if err := keys.LoadEphemeral(); err != nil {
			t.Fatal(err)
		}
		l.server = &httpsse.Server{
			Handler: h, Keys: keys, Pod: "p", Settings: func() httpsse.Settings { return set },
			Observer: &hook.Observer{
				Rejected:     func(r hook.Reason) { l.mu.Lock(); l.rejected = append(l.rejected, r); l.mu.Unlock() },
				Buffered:     func(n int64) { l.mu.Lock(); l.buffered += n; l.mu.Unlock() },
				StreamClosed: func(_ hook.StreamKind, end hook.StreamEnd) { l.mu.Lock(); l.ends = append(l.ends, end); l.mu.Unlock() },
			},
		}
		l.Web = mcptest.Virtual(t, l.server, nil)
		defer func() {
			if err := l.server.Shutdown(context.Background(), errors.New("test over")); err != nil {
				t.Error(err)
			}
			l.Client.CloseIdleConnections()
			time.Sleep(time.Second) // net/http lingers on connections it closes
			synctest.Wait()
			l.mu.Lock()
			defer l.mu.Unlock()
			if l.buffered != 0 {
				t.Errorf("%d bytes of the budget were not given back", l.buffered)
			}
			if n, m := l.server.Connections(), l.server.Sessions(); n != 0 || m != 0 {
				t.Errorf("%d connections and %d sessions are left", n, m)
			}
			if n := keys.Remembered(); n != 0 {
				t.Errorf("%d ids of sessions that have ended are remembered", n)
			}
		}()
		f(l)
	})
}

func (l *lab) ended() []hook.StreamEnd {
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]hook.StreamEnd(nil), l.ends...)
}

// open opens a stream, without a session yet.
func (l *lab) open() *mcptest.Raw { return mcptest.HTTPSSE(l.t, l.Web, "/sse") }

// session opens a stream and a session on it.
func (l *lab) session(revision string) *mcptest.Raw {
	r := l.open()
	r.Say(mcptest.Initialize(0, revision, caps))
	r.Expect(hello(0, revision))
	r.Say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return r
}

func hello(id int, revision string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"stub","version":"1"}}}`, id, revision)
}

func call(id any) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"method":"tools/call","params":{"name":"a"}}`, id)
}

// do makes one HTTP request; "-" as a value removes a field.
func (l *lab) do(method, target, body string, header ...string) (*http.Response, string) {
	l.t.Helper()
	req, err := http.NewRequestWithContext(l.t.Context(), method, l.URL+target, strings.NewReader(body))
	if err != nil {
		l.t.Fatal(err)
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		switch name, value := header[i], header[i+1]; {
		case name == "Host":
			req.Host = value
		case value == "-":
			req.Header.Del(name)
		default:
			req.Header.Add(name, value)
		}
	}
	resp, err := l.Client.Do(req)
	if err != nil {
		l.t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK {
		return resp, "" // a stream
	}
	text, _ := io.ReadAll(resp.Body)
	return resp, string(text)
}
