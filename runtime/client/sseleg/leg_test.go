package sseleg_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/client/sseleg"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcptest"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/transport/httpsse"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const initParams = `{"protocolVersion":"2025-06-18","capabilities":{"roots":{}},"clientInfo":{"name":"t","version":"1"}}`

type handler struct{}

func (handler) Request(context.Context, peer.Incoming) ([]byte, *jsonrpc.Error) {
	return []byte(`{"roots":[]}`), nil
}
func (handler) Notification(peer.Incoming) {}

// dial connects a Peer to whatever serves web.
func dial(t *testing.T, web *mcptest.Web, path string, edit func(*sseleg.Config)) (*peer.Peer, *sseleg.Leg) {
	t.Helper()
	target, err := url.Parse(web.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	cfg := sseleg.Config{URL: target, HTTP: web.Client}
	if edit != nil {
		edit(&cfg)
	}
	leg := sseleg.New(cfg)
	p := peer.New(leg, peer.Config{Handler: handler{}})
	t.Cleanup(func() { p.Close(nil); leg.Wait(); p.Wait() })
	return p, leg
}

func initialize(t *testing.T, p *peer.Peer) error {
	t.Helper()
	_, err := p.Initialize(t.Context(), []byte(initParams), func(string) bool { return true })
	return err
}

// Our client with our server. W13.3
func TestAConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keys := &seal.Keyring{Server: "uid"}
		if err := keys.LoadEphemeral(); err != nil {
			t.Fatal(err)
		}
		server := &httpsse.Server{Keys: keys, Handler: &mcptest.Stub{OnServe: func(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
			if x.Msg.Method == "slow" {
				<-ctx.Done()
			}
			return x.Call(ctx, "roots/list", nil)
		}}}
		p, leg := dial(t, mcptest.Virtual(t, server, nil), "/sse", nil)
		if err := initialize(t, p); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			answer, err := p.Call(t.Context(), peer.Request{Method: "tools/call"})
			if err != nil || string(answer.Result) != `{"roots":[]}` {
				t.Errorf("%s, %v", answer.Result, err)
			}
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if _, err := p.Call(ctx, peer.Request{Method: "slow"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		synctest.Wait() // the cancel has arrived
		go func() {
			time.Sleep(time.Second)
			server.Cut(errors.New("enough"))
		}()
		answer, err := p.Call(t.Context(), peer.Request{Method: "slow"})
		if err != nil || answer.Err == nil || answer.Err.Reason() != "draining" {
			t.Errorf("%+v, %v", answer, err)
		}
		<-p.Done() // the stream has ended
		if _, err := p.Call(t.Context(), peer.Request{Method: "x"}); peer.ReasonOf(err) != peer.Ended {
			t.Error(err)
		}
		leg.Wait()
	})
}

// fake serves one stream whose events a test gives, and POSTs.
type fake struct {
	stream func(w http.ResponseWriter, r *http.Request)
	post   func(w http.ResponseWriter, r *http.Request, raw []byte, say func(string))

	mu  sync.Mutex
	out chan string
	got []string
}

func newFake() *fake { return &fake{out: make(chan string, 16)} }

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.got = append(f.got, r.Method+" "+r.URL.RequestURI()+" "+r.Header.Get("Mcp-Protocol-Version"))
	f.mu.Unlock()
	if r.Method == http.MethodPost {
		raw, _ := io.ReadAll(r.Body)
		f.post(w, r, raw, func(m string) { f.out <- "data: " + m + "\n\n" })
		return
	}
	f.stream(w, r)
}

// events writes what is to be said until the client goes.
func (f *fake) events(w http.ResponseWriter, r *http.Request, first string) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, first)
	_ = http.NewResponseController(w).Flush()
	for {
		select {
		case m := <-f.out:
			if m == "" {
				return
			}
			_, _ = io.WriteString(w, m)
			_ = http.NewResponseController(w).Flush()
		case <-r.Context().Done():
			return
		}
	}
}

// answerTo answers initialize by event.
func answerTo(w http.ResponseWriter, _ *http.Request, raw []byte, say func(string)) {
	w.WriteHeader(http.StatusAccepted)
	if m, err := jsonrpc.Parse(raw, 0); err == nil && m.Kind == jsonrpc.KindRequest {
		say(`{"jsonrpc":"2.0","id":` + m.ID.String() + `,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"f","version":"1"}}}`)
	}
}

// Where a server may send its client to POST. W13.2, W13.3
func TestWhereToPost(t *testing.T) {
	for said, want := range map[string]string{
		"/messages?sessionId=1":                  "POST /messages?sessionId=1",
		"?sessionId=1":                           "POST /a/sse?sessionId=1",
		"messages/1":                             "POST /a/messages/1",
		"http://localhost/m#x":                   "POST /m",
		"http://localhost:80/m":                  "POST /m",
		"http://LOCALHOST/m":                     "POST /m",
		"http://evil.example/m":                  "",
		"//evil.example/m":                       "",
		"https://localhost/m":                    "",
		"http://localhost:81/m":                  "",
		"http://user@localhost/m":                "",
		"http://localhost.evil.example/m":        "",
		"mailto:x@localhost":                     "",
		"http://[::1":                            "",
		"http://localhost\\@evil.example/m":      "",
		"http://evil.example/?http://localhost/": "",
	} {
		t.Run(said, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				f.post = answerTo
				f.stream = func(w http.ResponseWriter, r *http.Request) { f.events(w, r, "event: endpoint\ndata: "+said+"\n\n") }
				p, _ := dial(t, mcptest.Virtual(t, f, nil), "/a/sse", nil)
				err := initialize(t, p)
				f.mu.Lock()
				defer f.mu.Unlock()
				switch {
				case want == "" && (err == nil || len(f.got) != 1):
					t.Errorf("%v: %v", err, f.got)
				case want != "" && (err != nil || f.got[1] != want+" " || f.got[2] != want+" 2025-06-18"): // P17
					t.Errorf("%v: %q", err, f.got)
				}
			})
		})
	}
}

// Servers that are none, and what comes instead of a stream.
func TestWhatIsNoStream(t *testing.T) {
	for name, tc := range map[string]struct {
		stream func(f *fake) func(w http.ResponseWriter, r *http.Request)
		want   string // in the error
	}{
		"404":                     {status(404), "http_status (HTTP 404)"},
		"405":                     {status(405), "http_status (HTTP 405)"},
		"401":                     {status(401), "upstream_auth (HTTP 401)"},
		"a page":                  {text("<html>\n\n"), "stream_lost"},
		"a stream without a word": {text(""), "stream_lost"},
		"a message first":         {text("data: {}\n\n"), "did not say where to POST"},
		"a redirect elsewhere":    {redirect("http://evil.example/sse"), "redirect to another server"},
		"redirects without end":   {redirect("/again"), "too many redirects"},
		"an event over the limit": {text("event: endpoint\ndata: /" + strings.Repeat("x", 5000) + "\n\n"), "response_too_large"},
		"silence": {func(f *fake) func(http.ResponseWriter, *http.Request) {
			return func(w http.ResponseWriter, r *http.Request) { f.events(w, r, ": ok\n\n") }
		}, "did not say where to POST"},
		"comments before it are fine": {func(f *fake) func(http.ResponseWriter, *http.Request) {
			return func(w http.ResponseWriter, r *http.Request) {
				f.events(w, r, ": hi\n\nretry: 5\n\nevent: endpoint\r\ndata: /m\r\n\r\n")
			}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				f.post, f.stream = answerTo, tc.stream(f)
				p, _ := dial(t, mcptest.Virtual(t, f, nil), "/sse", func(c *sseleg.Config) { c.MaxMessageBytes = 4096 })
				err := initialize(t, p)
				if tc.want == "" && err == nil {
					return
				}
				if err == nil || tc.want == "" || !strings.Contains(err.Error(), tc.want) {
					t.Error(err)
				}
			})
		})
	}
}

func status(code int) func(*fake) func(http.ResponseWriter, *http.Request) {
	return func(*fake) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
}

func text(body string) func(*fake) func(http.ResponseWriter, *http.Request) {
	return func(*fake) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }
	}
}

func redirect(to string) func(*fake) func(http.ResponseWriter, *http.Request) {
	return func(*fake) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusTemporaryRedirect) }
	}
}

// What a POST may be answered with. W13.6, R10
func TestAnswersToPosts(t *testing.T) {
	for name, tc := range map[string]struct {
		post func(w http.ResponseWriter, id string, say func(string))
		want string
	}{
		"202 and an event": {func(w http.ResponseWriter, id string, say func(string)) { w.WriteHeader(202); say(ok(id)) }, "{}"},
		"200 with a word": {func(w http.ResponseWriter, id string, say func(string)) {
			_, _ = io.WriteString(w, "Accepted")
			say(ok(id))
		}, "{}"},
		"the event before the status": {func(w http.ResponseWriter, id string, say func(string)) { say(ok(id)); w.WriteHeader(204) }, "{}"},
		"the answer in the body":      {func(w http.ResponseWriter, id string, _ func(string)) { _, _ = io.WriteString(w, ok(id)) }, "{}"},
		"an error in the body of a 400": {func(w http.ResponseWriter, id string, _ func(string)) {
			w.WriteHeader(400)
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-1,"message":"no"}}`, id)
		}, "no"},
		"404": {func(w http.ResponseWriter, _ string, _ func(string)) { w.WriteHeader(404) }, "session_gone (HTTP 404)"},
		"500": {func(w http.ResponseWriter, _ string, _ func(string)) { w.WriteHeader(500) }, "http_status (HTTP 500)"},
		"another protocol instead": {func(w http.ResponseWriter, _ string, _ func(string)) {
			w.Header().Set("Connection", "Upgrade")
			w.Header().Set("Upgrade", "websocket")
			w.WriteHeader(http.StatusSwitchingProtocols)
			_ = http.NewResponseController(w).Flush()
			time.Sleep(time.Hour)
		}, "http_status (HTTP 101)"},
		"a status held until the answer": {func(w http.ResponseWriter, id string, say func(string)) {
			say(ok(id))
			time.Sleep(time.Hour)
			w.WriteHeader(200)
		}, "{}"},
		"a refusal that takes long": {func(w http.ResponseWriter, _ string, _ func(string)) { time.Sleep(time.Hour); w.WriteHeader(500) }, "the request was not taken"},
		"the stream ends instead":   {func(w http.ResponseWriter, _ string, say func(string)) { w.WriteHeader(202); say("") }, "stream_lost"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				f.stream = func(w http.ResponseWriter, r *http.Request) { f.events(w, r, "event: endpoint\ndata: /m\n\n") }
				f.post = func(w http.ResponseWriter, r *http.Request, raw []byte, say func(string)) {
					m, err := jsonrpc.Parse(raw, 0)
					if err != nil || m.Method != "x" {
						answerTo(w, r, raw, say)
						return
					}
					tc.post(w, m.ID.String(), func(s string) {
						if s == "" {
							f.out <- ""
							return
						}
						say(s)
					})
				}
				p, _ := dial(t, mcptest.Virtual(t, f, nil), "/sse", nil)
				if err := initialize(t, p); err != nil {
					t.Fatal(err)
				}
				answer, err := p.Call(t.Context(), peer.Request{Method: "x"})
				got := string(answer.Result)
				switch {
				case err != nil:
					got = err.Error()
				case answer.Err != nil:
					got = answer.Err.Message
				}
				if !strings.Contains(got, tc.want) { // whoever notices first may word it
					t.Error(got)
				}
				time.Sleep(2 * time.Hour) // whatever the server still does is over
			})
		})
	}
}

func ok(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"result":{}}` }

type credentials struct{ asked int }

func (c *credentials) Authorize(r *http.Request) error {
	r.Header.Set("Authorization", fmt.Sprint(c.asked))
	return nil
}

func (c *credentials) Challenged(context.Context, *http.Response) (bool, error) {
	c.asked++
	return true, nil
}

// A challenge is answered, on the stream and on POSTs, but not for ever.
func TestChallenges(t *testing.T) {
	for need, works := range map[string]bool{"1": true, "2": true, "9": false} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake()
			f.post = answerTo
			f.stream = func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != need {
					w.WriteHeader(401)
					return
				}
				f.events(w, r, "event: endpoint\ndata: /m\n\n")
			}
			p, _ := dial(t, mcptest.Virtual(t, f, nil), "/sse", func(c *sseleg.Config) { c.Auth = &credentials{} })
			if err := initialize(t, p); (err == nil) != works {
				t.Errorf("%s: %v", need, err)
			}
		})
	}
}

func FuzzEndpoint(f *testing.F) {
	for _, seed := range []string{"/m?x=1", "?x", "//h/m", "http://localhost/m", "http://localhost\\@evil/", "", "#", "http:m", "\t/m", "http://localhost:080/"} {
		f.Add(seed)
	}
	base, _ := url.Parse("http://localhost/a/sse")
	f.Fuzz(func(t *testing.T, data string) {
		to, err := sseleg.Endpoint(base, data)
		if err != nil {
			return
		}
		// What is dialled is what the text of the request says.
		again, err := url.Parse(to.String())
		if err != nil || again.Scheme != "http" || !strings.EqualFold(again.Hostname(), "localhost") || again.User != nil || again.Port() != "" && again.Port() != "80" || to.Fragment != "" {
			t.Errorf("%q leads to %s (%v)", data, to, err)
		}
	})
}

// P18: so many cancels are on their way at a time; a server that takes none
// costs no more.
func TestCancelsOnTheirWayAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cancels atomic.Int64
		release := make(chan struct{})
		f := newFake()
		f.stream = func(w http.ResponseWriter, r *http.Request) {
			f.events(w, r, "event: endpoint\ndata: /m\n\n")
		}
		f.post = func(w http.ResponseWriter, r *http.Request, raw []byte, say func(string)) {
			switch m, err := jsonrpc.Parse(raw, 0); {
			case err != nil:
				t.Error(err)
			case m.Method == "notifications/cancelled":
				cancels.Add(1)
				<-release
				w.WriteHeader(http.StatusAccepted)
			case m.Method == "initialize":
				answerTo(w, r, raw, say)
			default:
				w.WriteHeader(http.StatusAccepted)
			}
		}
		p, _ := dial(t, mcptest.Virtual(t, f, nil), "/sse", nil)
		if err := initialize(t, p); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var calls sync.WaitGroup
		for range 50 {
			calls.Go(func() { _, _ = p.Call(ctx, peer.Request{Method: "tools/call"}) })
		}
		synctest.Wait()
		cancel()
		calls.Wait() // nobody waits for the cancels
		synctest.Wait()
		if n := cancels.Load(); n != 32 {
			t.Errorf("%d cancels are on their way", n)
		}
		close(release)
	})
}
