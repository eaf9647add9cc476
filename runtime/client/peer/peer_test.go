package peer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/runtime/transport/ndjson"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server is the other end of a Peer over pipes, moved by hand.
type server struct {
	t *testing.T
	*Peer
	in  *bufio.Reader
	raw *io.PipeReader
	out *io.PipeWriter
	log *recorder
}

// recorder is a Handler and Hooks that remember.
type recorder struct {
	mu      sync.Mutex
	notes   []string
	drops   []Drop
	noise   []string
	strings int
	serve   func(ctx context.Context, in Incoming) ([]byte, *jsonrpc.Error)
	told    func() // nil: nothing
}

func (r *recorder) Request(ctx context.Context, in Incoming) ([]byte, *jsonrpc.Error) {
	if r.serve == nil {
		return nil, jsonrpc.Errorf(-32601, "no")
	}
	return r.serve(ctx, in)
}

func (r *recorder) Notification(in Incoming) {
	if r.told != nil {
		r.told()
	}
	of := ""
	if in.Call != nil {
		of = fmt.Sprintf(" of %v", in.Call.Value())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notes = append(r.notes, string(in.Msg.Raw)+of)
}

func (r *recorder) hooks() Hooks {
	return Hooks{
		Dropped: func(d Drop) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.drops = append(r.drops, d)
		},
		Noise: func(s string) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.noise = append(r.noise, s)
		},
		StringID: func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.strings++
		},
	}
}

func (r *recorder) wantDrops(t *testing.T, want ...Drop) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if diff := cmp.Diff(want, r.drops); diff != "" {
		t.Errorf("drops: %s", diff)
	}
}

func (r *recorder) wantNotes(t *testing.T, want ...string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if diff := cmp.Diff(want, r.notes); diff != "" {
		t.Errorf("notifications: %s", diff)
	}
}

// bubble runs a test in virtual time with a fresh server.
func bubble(t *testing.T, cfg Config, f func(t *testing.T, s *server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &server{t: t, log: &recorder{}}
		inR, inW := io.Pipe()
		outR, outW := io.Pipe()
		s.in, s.raw, s.out = bufio.NewReaderSize(inR, 1<<20), inR, outW
		panicked := cfg.Hooks.Panicked
		cfg.Handler, cfg.Hooks = s.log, s.log.hooks()
		cfg.Hooks.Panicked = panicked
		s.Peer = New(NewStdio(ndjson.Config{In: inW, Out: outR, MaxMessageBytes: 64 << 10}), cfg)
		f(t, s)
		s.Close(nil)
		_ = inR.Close()
		_ = outW.Close()
		s.Wait()
	})
}

func (s *server) read() string {
	s.t.Helper()
	line, err := s.in.ReadString('\n')
	if err != nil {
		s.t.Fatalf("read: %v", err)
	}
	return strings.TrimSuffix(line, "\n")
}

func (s *server) want(text string) {
	s.t.Helper()
	if got := s.read(); got != text {
		s.t.Errorf("server read  %s\nwant         %s", got, text)
	}
}

func (s *server) say(lines ...string) {
	s.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(s.out, l+"\n"); err != nil {
			s.t.Fatalf("write: %v", err)
		}
	}
	synctest.Wait()
}

// outcome of a call made in the background.
type outcome struct {
	Answer
	err  error
	done chan struct{}
}

func (s *server) call(ctx context.Context, r Request) *outcome {
	o := &outcome{done: make(chan struct{})}
	go func() {
		defer close(o.done)
		o.Answer, o.err = s.Call(ctx, r)
	}()
	synctest.Wait() // calls go out in the order in which they are made
	return o
}

func (o *outcome) wantResult(t *testing.T, want string) {
	t.Helper()
	select {
	case <-o.done:
	default:
		synctest.Wait()
		select {
		case <-o.done:
		default:
			t.Fatal("no answer yet")
		}
	}
	if o.err != nil || o.Answer.Err != nil || string(o.Result) != want {
		t.Errorf("result %s, error %v, %v; want %s", o.Result, o.Answer.Err, o.err, want)
	}
}

func (o *outcome) wantReason(t *testing.T, want Reason) {
	t.Helper()
	synctest.Wait()
	select {
	case <-o.done:
	default:
		t.Fatal("no answer yet")
	}
	if got := ReasonOf(o.err); got != want {
		t.Errorf("failed with %v (%v), want %v", got, o.err, want)
	}
}

func req(method, params string) Request {
	r := Request{Method: method, Value: method}
	if params != "" {
		r.Params = []byte(params)
		if token, ok := strictjson.GetPath(r.Params, "_meta", "progressToken"); ok && !strictjson.IsNull(token) {
			r.Token = token
		}
	}
	return r
}

// W1.3, W1.4
func TestIdsAreMintedFromOneAndAnswersFindTheirCall(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, s *server) { // R6, B3.6
		a := s.call(t.Context(), req("tools/list", ""))
		s.want(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		b := s.call(t.Context(), req("x/y", `{"a":1.0,"b":9007199254740993}`))
		s.want(`{"jsonrpc":"2.0","id":2,"method":"x/y","params":{"a":1.0,"b":9007199254740993}}`)
		s.say(`{"jsonrpc":"2.0","id":2,"result":{"n":9007199254740993,"p":1.0,"e":1E2}}`) // C04
		b.wantResult(t, `{"n":9007199254740993,"p":1.0,"e":1E2}`)
		s.say(`{"jsonrpc":"2.0","id":"1","result":{}}`) // C02
		a.wantResult(t, `{}`)
		if s.log.strings != 1 {
			t.Errorf("%d string ids counted", s.log.strings)
		}
		s.say(`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":7,"result":{}}`,
			`{"jsonrpc":"2.0","id":"01","result":{}}`, `{"jsonrpc":"2.0","id":"x","result":{}}`)
		s.log.wantDrops(t, DropLate, DropUnknownID, DropUnknownID, DropUnknownID)
	})
}

// W2.3
func TestErrorsOfTheServerKeepEveryMember(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, s *server) {
		a := s.call(t.Context(), req("tools/call", ""))
		s.read()
		s.say(`{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"no","data":{"uri":"a b"},"x":1}}`)
		<-a.done
		if a.Answer.Err == nil || string(a.Answer.Err.Raw) != `{"code":-32002,"message":"no","data":{"uri":"a b"},"x":1}` {
			t.Errorf("%+v, %v", a.Answer.Err, a.err)
		}
	})
}

func TestBrokenAnswersFailAtOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		line string
		want Reason
	}{
		"bytes that are not UTF-8":             {"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"text\":\"\xc7\xd1\"}}", BadResponse}, // C10, R5
		"broken grammar, id readable":          {`{"jsonrpc":"2.0","id":1,"result":{"a":}}`, BadResponse},
		"broken grammar, no id, one in flight": {`{"jsonrpc":"2.0","result":{"a":}}`, BadResponse},
		"result and error both":                {`{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}`, BadResponse}, // B16
		"neither result nor error":             {`{"jsonrpc":"2.0","id":1}`, BadResponse},
		"no jsonrpc member":                    {`{"id":1,"result":{}}`, BadResponse},
		"a duplicate name where we read":       {`{"jsonrpc":"2.0","id":1,"result":{},"result":{"b":1}}`, BadResponse}, // P8
		"over the size limit":                  {`{"jsonrpc":"2.0","result":"` + strings.Repeat("x", 70<<10) + `","id":1}`, TooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, Config{}, func(t *testing.T, s *server) {
				a := s.call(t.Context(), req("tools/call", ""))
				s.read()
				s.say(tc.line)
				a.wantReason(t, tc.want)
				s.log.wantDrops(t, DropBroken)
				b := s.call(t.Context(), req("tools/call", "")) // the leg lives on
				s.read()
				s.say(`{"jsonrpc":"2.0","id":2,"result":{}}`)
				b.wantResult(t, "{}")
			})
		})
	}
}

func TestABrokenAnswerWithoutIdFailsNobodyAmongSeveral(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, s *server) {
		a, b := s.call(t.Context(), req("tools/call", "")), s.call(t.Context(), req("tools/list", ""))
		s.read()
		s.read()
		s.say(`{"jsonrpc":"2.0","result":{"a":}}`, `{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":2,"result":{}}`)
		a.wantResult(t, "{}")
		b.wantResult(t, "{}")
	})
}

func TestTalkOnStdoutIsSkipped(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, s *server) { // C07, W18.2
		a := s.call(t.Context(), req("initialize", ""))
		s.read()
		s.say("🚀 demo", "", "\x1b[32mlistening\x1b[0m", `{"level":"error","error":"none","n":1}`, `{"level":"info","msg":"up"}`, "[1,2")
		s.say(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		a.wantResult(t, "{}")
		s.log.wantDrops(t, DropNoise, DropNoise, DropNoise, DropNoise, DropNoise)
		if s.log.noise[1] != `\x1b[32mlistening\x1b[0m` {
			t.Errorf("excerpt %q", s.log.noise[1])
		}
	})
}

func TestABrokenRequestOfTheServerIsAnswered(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, s *server) {
		a := s.call(t.Context(), req("tools/call", ""))
		s.read()
		s.say(`{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"x":"` + "\xff" + `"}}`)
		s.want(`{"jsonrpc":"2.0","id":1,"error":{"code":-32700,"message":"message could not be read"}}`)
		s.say(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		a.wantResult(t, "{}")
	})
}

// W1.14, W12.5
func TestBatchesOfTheServerAreRead(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, s *server) { // W12.5
		a, b := s.call(t.Context(), req("x", "")), s.call(t.Context(), req("y", ""))
		first, second := s.read(), s.read()
		if !strings.Contains(first, `"id":1`) || !strings.Contains(second, `"id":2`) {
			t.Fatal(first, second)
		}
		s.say(`[{"jsonrpc":"2.0","id":2,"result":{}},{"jsonrpc":"2.0","method":"notifications/tools/list_changed"},{"jsonrpc":"2.0","id":1,"result":{}},7]`)
		a.wantResult(t, "{}")
		b.wantResult(t, "{}")
		s.log.wantNotes(t, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	})
}

func TestProgressComesBackUnderTheCallersToken(t *testing.T) {
	for name, token := range map[string]string{ // C24, W20.1, B11.4
		"zero": `0`, "the string zero": `"0"`, "a big number": `9007199254740993`, "a word": `"t-\u00e9"`, "an empty string": `""`,
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, Config{}, func(t *testing.T, s *server) {
				a := s.call(t.Context(), req("tools/call", `{"_meta":{"progressToken":`+token+`,"x":1},"name":"slow"}`))
				s.want(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":1,"x":1},"name":"slow"}}`)
				note := func(token, rest string) string {
					return `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + token + `,` + rest + `}}`
				}
				s.say(note("1", `"progress":0.5,"total":2.0`), note(`"1"`, `"progress":1,"message":"m"`),
					note("1", `"progress":1`), note("1", `"progress":0.7`), note("1", `"progress":"x"`), note("9", `"progress":5`),
					`{"jsonrpc":"2.0","id":1,"result":{}}`, note("1", `"progress":9`))
				a.wantResult(t, "{}")
				s.log.wantNotes(t,
					note(token, `"progress":0.5,"total":2.0`)+" of tools/call",
					note(token, `"progress":1,"message":"m"`)+" of tools/call")
				// Not rising twice, no number, unknown token, after the answer (W20.3).
				s.log.mu.Lock()
				defer s.log.mu.Unlock()
				if len(s.log.drops) != 5 {
					t.Errorf("drops %v", s.log.drops)
				}
			})
		})
	}
}

func TestWithoutATokenNoProgress(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, s *server) { // B11.5
		a := s.call(t.Context(), req("tools/call", `{"name":"x","_meta":{"progressToken":null}}`))
		s.want(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"progressToken":null}}}`)
		s.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		a.wantResult(t, "{}")
		s.log.wantDrops(t, DropProgress)
		s.log.wantNotes(t)
	})
}

func TestEditsAndTokenShareOneSplice(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, s *server) {
		r := req("tools/call", `{"a": 1, "_meta":{"io.x/y":{},"progressToken":"t"},"requestState":"s"}`)
		r.Edits = []strictjson.Edit{strictjson.Delete("_meta", "io.x/y"), strictjson.Delete("requestState")}
		a := s.call(t.Context(), r)
		s.want(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"a": 1, "_meta":{"progressToken":1}}}`)
		s.say(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		a.wantResult(t, "{}")
		r.Edits, r.Token = []strictjson.Edit{strictjson.Delete("_meta")}, nil
		b := s.call(t.Context(), r)
		s.want(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"a": 1,"requestState":"s"}}`)
		s.say(`{"jsonrpc":"2.0","id":2,"result":{}}`)
		b.wantResult(t, "{}")
	})
}

// W19.5, W19.10
func TestCancel(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, s *server) { // W18.6, W19.1, W19.4, B11.6
		mine := errors.New("user said stop")
		ctx, cancel := context.WithCancelCause(t.Context())
		a := s.call(ctx, req("tools/call", ""))
		s.read()
		cancel(mine)
		s.want(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"user said stop"}}`)
		<-a.done
		if !errors.Is(a.err, mine) {
			t.Errorf("cancelled call ended with %v", a.err)
		}
		s.say(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		s.log.wantDrops(t, DropLate)
		if since, ok := s.Idle(); !ok || since.After(time.Now()) {
			t.Error("not idle after a cancel")
		}
	})
}

func TestInitializeIsNeverCancelled(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, s *server) { // W4.10
		ctx, cancel := context.WithCancel(t.Context())
		a := s.call(ctx, req("initialize", ""))
		s.read()
		cancel()
		<-a.done
		b := s.call(t.Context(), req("ping", ""))
		s.want(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		s.say(`{"jsonrpc":"2.0","id":2,"result":{}}`)
		b.wantResult(t, "{}")
	})
}

// D3, B3.8: every exit path resolves everything, with a cause.
func TestTheEndResolvesEverything(t *testing.T) {
	for name, tc := range map[string]struct {
		end  func(s *server)
		want Reason
	}{
		"the server closes its output": {func(s *server) { _ = s.out.Close() }, Ended},
		"the leg is closed":            {func(s *server) { s.Close(errors.New("done")) }, Closed},
		"the server stops reading":     {func(s *server) { _ = s.Notify(context.Background(), "n", nil); time.Sleep(time.Minute) }, Ended},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, Config{}, func(t *testing.T, s *server) {
				var seen error
				s.log.serve = func(ctx context.Context, _ Incoming) ([]byte, *jsonrpc.Error) {
					<-ctx.Done()
					seen = context.Cause(ctx)
					return nil, jsonrpc.Errorf(-1, "x")
				}
				a, b := s.call(t.Context(), req("tools/call", "")), s.call(t.Context(), req("tools/list", ""))
				s.read()
				s.read()
				s.say(`{"jsonrpc":"2.0","id":"r","method":"roots/list"}`)
				tc.end(s)
				a.wantReason(t, tc.want)
				b.wantReason(t, tc.want)
				synctest.Wait()
				if ReasonOf(seen) != tc.want {
					t.Errorf("the handler's ctx ended with %v", seen)
				}
				c := s.call(t.Context(), req("tools/list", ""))
				c.wantReason(t, tc.want)
				if err := s.Notify(t.Context(), "x", nil); ReasonOf(err) != tc.want {
					t.Errorf("notify: %v", err)
				}
				<-s.Done()
			})
		})
	}
}

// W20.5
func TestTheBoundOnCallsInFlight(t *testing.T) {
	bubble(t, Config{MaxPending: 1}, func(t *testing.T, s *server) {
		a := s.call(t.Context(), req("tools/call", ""))
		s.read()
		b := s.call(t.Context(), req("tools/list", ""))
		b.wantReason(t, Busy)
		s.say(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		a.wantResult(t, "{}")
	})
}

// A server that reads nothing: whoever cancels is back at once, although the
// notification cannot be written.
func TestACancelDoesNotWaitForTheServer(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, s *server) {
		first := s.call(t.Context(), req("tools/call", `{"text":"`+strings.Repeat("x", 1<<10)+`"}`)) // fills the pipe, which holds nothing
		ctx, cancel := context.WithCancel(t.Context())
		second := s.call(ctx, req("tools/call", ""))
		begin := time.Now()
		cancel()
		<-second.done
		if d := time.Since(begin); d != 0 || !errors.Is(second.err, context.Canceled) {
			t.Errorf("after %v: %v", d, second.err)
		}
		s.Close(nil)
		<-first.done
	})
}
