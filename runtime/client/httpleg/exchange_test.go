package httpleg

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
)

func TestTheBodyIsJudgedByItsBytes(t *testing.T) {
	const ok = `{"jsonrpc":"2.0","id":$ID,"result":{"n":9007199254740993}}`
	for name, tc := range map[string]struct {
		kind, body, want string
	}{
		"JSON called JSON":                      {"application/json", ok, `{"n":9007199254740993}`},
		"JSON called a stream":                  {"text/event-stream", ok, `{"n":9007199254740993}`}, // envoy ai-gateway #2218
		"a stream called JSON":                  {"application/json", "data: " + ok + "\n\n", `{"n":9007199254740993}`},
		"a stream without a type":               {"", "event: message\ndata: " + ok + "\n\n", `{"n":9007199254740993}`},
		"CRLF lines":                            {"text/event-stream", "event: message\r\ndata: " + ok + "\r\n\r\n", `{"n":9007199254740993}`},                                // C05
		"named events and comments before it":   {"text/event-stream", "event: ping\ndata: ping\n\n: keep\n\nevent: message\ndata: " + ok + "\n\n", `{"n":9007199254740993}`}, // C06
		"talk in an unnamed event":              {"text/event-stream", "data: hello\n\ndata: " + ok + "\n\n", `{"n":9007199254740993}`},
		"blanks and a byte order mark":          {"application/json", "\ufeff \r\n" + ok + "\n", `{"n":9007199254740993}`},
		"a string id":                           {"application/json", `{"jsonrpc":"2.0","id":"1","result":{}}`, `{}`}, // R6
		"a page of HTML":                        {"text/html", "<html>", "failure bad_response"},
		"nothing":                               {"application/json", "", "failure bad_response"},
		"JSON that answers somebody else":       {"application/json", `{"jsonrpc":"2.0","id":99,"result":{}}`, "failure bad_response"}, // B16
		"JSON cut short":                        {"application/json", `{"jsonrpc":"2.0","id":1,"result":{`, "failure bad_response"},
		"bytes that are not UTF-8":              {"application/json", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"t\":\"\xff\"}}", "failure bad_response"}, // R5
		"broken message on a stream":            {"text/event-stream", "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{]}\n\n", "failure bad_response"},
		"a stream that ends without the answer": {"text/event-stream", "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\n", "failure stream_lost"},
		"a body over the limit":                 {"application/json", `{"jsonrpc":"2.0","id":1,"result":{"x":"` + strings.Repeat("x", 70<<10) + `"}}`, "failure response_too_large"},
		"an event over the limit":               {"text/event-stream", "id: 1\ndata: " + strings.Repeat("x", 70<<10) + "\n\n", "failure response_too_large"},
		"an array from a server of 2025-03-26":  {"application/json", `[` + ok + `]`, `{"n":9007199254740993}`}, // W12.5
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, Config{MaxMessageBytes: 64 << 10}, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", tc.kind)
				answer(tc.body)(w, r)
			}, func(t *testing.T, r *rig) {
				if got := r.call(t.Context(), "tools/call"); got != tc.want {
					t.Errorf("got %s, want %s", got, tc.want)
				}
			})
		})
	}
}

func TestStatusesWithAndWithoutAMessage(t *testing.T) {
	for name, tc := range map[string]struct {
		status     int
		body, want string
	}{
		"an error of ours in a 500":       {500, `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32002,"message":"no","data":{"uri":"book://x"}}}`, `rpc -32002 {"uri":"book://x"}`}, // C33, R10
		"a result in a 404":               {404, `{"jsonrpc":"2.0","id":$ID,"result":{}}`, `{}`},
		"an error for nobody in a 400":    {400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}`, "failure http_status"},
		"a 500 with text":                 {500, "oops", "failure http_status"},
		"a 503":                           {503, "", "failure http_status"},
		"a 401":                           {401, "", "failure upstream_auth"}, // B15.10
		"a 403":                           {403, "", "failure upstream_auth"},
		"a 421":                           {421, "", "failure host_refused"},
		"a redirect that leaves no trace": {302, "", "failure redirected"},
		"a 303":                           {303, "", "failure http_status"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
				body := strings.ReplaceAll(tc.body, "$ID", message(r).ID.String())
				w.WriteHeader(tc.status)
				write(w, body)
			}, func(t *testing.T, r *rig) {
				if got := r.call(t.Context(), "tools/call"); got != tc.want {
					t.Errorf("got %s, want %s", got, tc.want)
				}
			})
		})
	}
}

func TestEncodedBodiesAreDecodedWithinTheLimit(t *testing.T) {
	const text = `{"jsonrpc":"2.0","id":1,"result":{"a":1}}`
	pack := func(w io.WriteCloser, into *bytes.Buffer, text string) string {
		_, _ = io.WriteString(w, text)
		_ = w.Close()
		return into.String()
	}
	var gz, zl, fl, bomb bytes.Buffer
	raw, _ := flate.NewWriter(&fl, 1)
	for name, tc := range map[string]struct{ coding, body, want string }{
		"gzip":             {"gzip", pack(gzip.NewWriter(&gz), &gz, text), `{"a":1}`}, // R18
		"deflate":          {"deflate", pack(zlib.NewWriter(&zl), &zl, text), `{"a":1}`},
		"bare deflate":     {"Deflate", pack(raw, &fl, text), `{"a":1}`},
		"a bomb":           {"gzip", pack(gzip.NewWriter(&bomb), &bomb, `{"x":"`+strings.Repeat("x", 4<<20)), "failure response_too_large"},
		"not what it says": {"gzip", text, "failure bad_response"},
		"something else":   {"br", text, "failure bad_response"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, Config{MaxMessageBytes: 64 << 10}, func(w http.ResponseWriter, r *http.Request) {
				if got := r.Header.Get("Accept-Encoding"); got != "identity" { // P33.1
					t.Errorf("Accept-Encoding %q", got)
				}
				w.Header().Set("Content-Encoding", tc.coding)
				write(w, tc.body)
			}, func(t *testing.T, r *rig) {
				if got := r.call(t.Context(), "tools/call"); got != tc.want {
					t.Errorf("got %s, want %s", got, tc.want)
				}
			})
		})
	}
}

func TestTheWayThereFails(t *testing.T) {
	t.Run("nobody listens", func(t *testing.T) {
		bubble(t, Config{}, nil, func(t *testing.T, r *rig) {
			_ = r.pipes.Close()
			_, err := r.Call(t.Context(), peer.Request{Method: "x"})
			var f *peer.Failure
			if !errors.As(err, &f) || f.Reason != peer.Unreachable || !f.NotDelivered {
				t.Error(err)
			}
		})
	})
	t.Run("the connection breaks before the head", func(t *testing.T) {
		bubble(t, Config{}, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, func(t *testing.T, r *rig) {
			_, err := r.Call(t.Context(), peer.Request{Method: "x"})
			var f *peer.Failure
			if !errors.As(err, &f) || f.Reason != peer.Ended || f.NotDelivered {
				t.Error(err)
			}
		})
	})
	t.Run("and in the middle of a body", func(t *testing.T) {
		bubble(t, Config{}, func(w http.ResponseWriter, _ *http.Request) {
			write(w, `{"jsonrpc":"2.0",`)
			panic(http.ErrAbortHandler)
		}, func(t *testing.T, r *rig) {
			if got := r.call(t.Context(), "x"); got != "failure workload_restarted" {
				t.Error(got)
			}
		})
	})
	t.Run("and where only the body's end is missing", func(t *testing.T) { // B3.8
		bubble(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
			write(w, `{"jsonrpc":"2.0","id":`+message(r).ID.String()+`,"result":{"whole":true}}`)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, func(t *testing.T, r *rig) {
			if got := r.call(t.Context(), "x"); got != `{"whole":true}` {
				t.Error(got)
			}
		})
	})
	t.Run("another protocol comes instead", func(t *testing.T) {
		bubble(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
			message(r)
			w.Header().Set("Connection", "Upgrade")
			w.Header().Set("Upgrade", "websocket")
			w.WriteHeader(http.StatusSwitchingProtocols)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, func(t *testing.T, r *rig) {
			if got := r.call(t.Context(), "x"); got != "failure http_status" {
				t.Error(got)
			}
		})
	})
	t.Run("the caller gives up", func(t *testing.T) {
		var told string
		bubble(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
			if m := message(r); m.Method == "notifications/cancelled" {
				told = string(m.Params)
				w.WriteHeader(202)
				return
			}
			<-r.Context().Done()
		}, func(t *testing.T, r *rig) {
			ctx, stop := context.WithCancelCause(t.Context())
			go stop(errors.New("enough"))
			if got := r.call(ctx, "x"); got != "error enough" {
				t.Error(got)
			}
			r.Peer.Close(nil)
			r.Peer.Wait()
			if told != `{"requestId":1,"reason":"enough"}` { // W8.10, W19.1
				t.Errorf("the server was told %q", told)
			}
		})
	})
}
