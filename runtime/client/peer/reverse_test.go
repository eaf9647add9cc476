package peer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
)

// W1.11, W21.1
func TestPingOfTheServerIsAnsweredHere(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, s *server) { // B6.4
		s.say(`{"jsonrpc":"2.0","id":"p-1","method":"ping"}`)
		s.want(`{"jsonrpc":"2.0","id":"p-1","result":{}}`)
	})
}

// W1.11, W31.4
func TestWithoutAHandlerRequestsAreRefused(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, s *server) {
		s.Peer.cfg.Handler = nil
		s.say(`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`, `{"jsonrpc":"2.0","method":"notifications/x"}`)
		s.want(`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"method not found"}}`)
	})
}

func TestRequestsOfTheServerAreAnsweredAsTheyComplete(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, s *server) { // B9.2: ids are opaque
		release := map[string]chan struct{}{"a": make(chan struct{}), "b": make(chan struct{})}
		s.log.serve = func(_ context.Context, in Incoming) ([]byte, *jsonrpc.Error) {
			<-release[in.Msg.Method]
			if in.Msg.Method == "a" {
				return nil, &jsonrpc.Error{Raw: []byte(`{"code":-1,"message":"no","x":1}`)}
			}
			return []byte(`{"roots":[]}`), nil
		}
		s.say(`{"jsonrpc":"2.0","id":1.0e0,"method":"a"}`) // no legal id: refused, nothing runs
		s.say(`{"jsonrpc":"2.0","id":"x","method":"a"}`, `{"jsonrpc":"2.0","id":-3,"method":"b"}`)
		close(release["b"])
		s.want(`{"jsonrpc":"2.0","id":-3,"result":{"roots":[]}}`)
		s.say(`{"jsonrpc":"2.0","id":"x","method":"b"}`)
		s.want(`{"jsonrpc":"2.0","id":"x","error":{"code":-32600,"message":"a request with this id is in flight"}}`)
		close(release["a"])
		s.want(`{"jsonrpc":"2.0","id":"x","error":{"code":-1,"message":"no","x":1}}`)
	})
}

func TestTheBoundOnRequestsOfTheServer(t *testing.T) {
	bubble(t, Config{MaxReverse: 2}, func(t *testing.T, s *server) {
		s.log.serve = func(ctx context.Context, _ Incoming) ([]byte, *jsonrpc.Error) {
			<-ctx.Done()
			return []byte("{}"), nil
		}
		for i := range 3 {
			s.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"m"}`, i))
		}
		s.want(`{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"too many requests in flight","data":{"reason":"busy"}}}`)
		s.log.wantDrops(t, DropReverse)
	})
}

func TestAWithdrawnRequestIsNotAnswered(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, s *server) { // W19.2, W19.3
		var cause error
		s.log.serve = func(ctx context.Context, _ Incoming) ([]byte, *jsonrpc.Error) {
			<-ctx.Done()
			cause = context.Cause(ctx)
			return []byte("{}"), nil
		}
		s.say(`{"jsonrpc":"2.0","id":7,"method":"m"}`,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"7"}}`,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}`,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`,
			`{"jsonrpc":"2.0","id":8,"method":"ping"}`)
		if !errors.Is(cause, ErrWithdrawn) {
			t.Errorf("ctx ended with %v", cause)
		}
		s.want(`{"jsonrpc":"2.0","id":8,"result":{}}`)
	})
}

// whose answers a request with the value of the call that it belongs to.
func whose(_ context.Context, in Incoming) ([]byte, *jsonrpc.Error) {
	if in.Call == nil {
		return []byte(`{"of":null}`), nil
	}
	return []byte(fmt.Sprintf(`{"of":%q}`, in.Call.Value())), nil
}

// B6.1 for pipes: exactly one attributable call in flight, or none.
func TestAttribution(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, s *server) {
		s.log.serve = whose
		ask := func(want string) {
			t.Helper()
			s.say(`{"jsonrpc":"2.0","id":"r","method":"elicitation/create"}`)
			s.want(`{"jsonrpc":"2.0","id":"r","result":{"of":` + want + `}}`)
		}
		ask(`null`)
		list := s.call(t.Context(), req("tools/list", ""))
		s.read()
		ask(`null`) // a list cannot be the cause
		call := s.call(t.Context(), req("tools/call", ""))
		s.read()
		ask(`"tools/call"`)
		read := s.call(t.Context(), req("resources/read", ""))
		s.read()
		ask(`null`)
		s.say(`{"jsonrpc":"2.0","id":2,"result":{}}`)
		call.wantResult(t, "{}")
		ask(`"resources/read"`)
		s.say(`{"jsonrpc":"2.0","id":3,"result":{}}`, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		read.wantResult(t, "{}")
		list.wantResult(t, "{}")
		ask(`null`)
	})
}

func TestTheEndOfACallEndsItsReverseRequests(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, s *server) { // B6.6
		s.log.serve = func(ctx context.Context, _ Incoming) ([]byte, *jsonrpc.Error) {
			<-ctx.Done()
			return nil, jsonrpc.Errorf(-32603, "over")
		}
		a := s.call(t.Context(), req("tools/call", ""))
		s.read()
		s.say(`{"jsonrpc":"2.0","id":"r","method":"elicitation/create"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		a.wantResult(t, "{}")
		s.want(`{"jsonrpc":"2.0","id":"r","error":{"code":-32603,"message":"over"}}`)
	})
}

func TestLogMessagesGoToTheOnlyRequestInFlight(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, s *server) { // B11.1
		const note = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`
		s.say(note)
		a := s.call(t.Context(), req("tools/list", ""))
		s.read()
		s.say(note)
		b := s.call(t.Context(), req("tools/call", ""))
		s.read()
		s.say(note)
		s.say(`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":2,"result":{}}`)
		a.wantResult(t, "{}")
		b.wantResult(t, "{}")
		s.log.wantNotes(t, note, note+" of tools/list", note)
	})
}

func TestNotificationsKeepTheirOrderAndComeBeforeTheAnswer(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, s *server) {
		a := s.call(t.Context(), req("tools/call", `{"_meta":{"progressToken":"t"}}`))
		s.read()
		var lines, want []string
		for i := range 100 {
			lines = append(lines, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":%d}}`, i))
			want = append(want, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":%d}} of tools/call`, i))
		}
		s.say(strings.Join(append(lines, `{"jsonrpc":"2.0","id":1,"result":{}}`), "\n"))
		a.wantResult(t, "{}")
		s.log.wantNotes(t, want...)
	})
}

// stuck is a Handler that holds its first notification.
type stuck struct {
	recorder
	hold chan struct{}
}

func (s *stuck) Notification(in Incoming) {
	<-s.hold
	s.recorder.Notification(in)
}

// P18: a consumer that hangs delays its own call only; what is over the bound
// goes, oldest first, and is counted.
func TestASlowConsumerDelaysNobodyElse(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, s *server) {
		slow := &stuck{hold: make(chan struct{})}
		s.Peer.cfg.Handler = slow
		a := s.call(t.Context(), req("tools/call", `{"_meta":{"progressToken":"t"}}`))
		s.read()
		for i := range mailboxMessages + 11 {
			s.say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":%d}}`, i))
		}
		for range inboxMessages + 4 {
			s.say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		}
		b := s.call(t.Context(), req("tools/list", ""))
		s.read()
		s.say(`{"jsonrpc":"2.0","id":2,"result":{}}`, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		b.wantResult(t, "{}")
		close(slow.hold)
		a.wantResult(t, "{}")
		synctest.Wait()
		counts := map[Drop]int{}
		for _, d := range s.log.drops {
			counts[d]++
		}
		// One of each kind was in the handler's hands when the rest came.
		if counts[DropMailbox] != 10 || counts[DropUnsolicited] != 3 {
			t.Errorf("dropped %v", counts)
		}
		if got := len(slow.notes); got != mailboxMessages+1+inboxMessages+1 {
			t.Errorf("%d notifications handled", got)
		}
	})
}

// P18: large messages count by their bytes.
func TestASlowConsumerHoldsSoManyBytes(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, s *server) {
		slow := &stuck{hold: make(chan struct{})}
		s.Peer.cfg.Handler = slow
		a := s.call(t.Context(), req("tools/call", `{"_meta":{"progressToken":"t"}}`))
		s.read()
		pad := strings.Repeat("x", 40<<10)
		for range 150 {
			s.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1,"message":"` + pad + `"}}`)
		}
		for range 250 {
			s.say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"pad":"` + pad + `"}}`)
		}
		s.say(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		close(slow.hold)
		a.wantResult(t, "{}")
		synctest.Wait()
		counts := map[Drop]int{}
		for _, d := range s.log.drops {
			counts[d]++
		}
		// One of each was taken when the rest came.
		const mailboxFits, inboxFits = mailboxBytes / (40<<10 + 150), inboxBytes / (40<<10 + 150)
		if counts[DropMailbox] != 150-1-mailboxFits || counts[DropUnsolicited] != 250-1-inboxFits {
			t.Errorf("dropped %v", counts)
		}
	})
}

// purse is a Budget with so many bytes.
type purse struct {
	mu   sync.Mutex
	left int64
}

func (p *purse) TryAcquire(n int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n > p.left {
		return false
	}
	p.left -= n
	return true
}

func (p *purse) Release(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left += n
}

func TestTheBudgetOfTheProcess(t *testing.T) { // P18
	money := &purse{left: 1000}
	bubble(t, Config{Budget: money}, func(t *testing.T, s *server) {
		slow := &stuck{hold: make(chan struct{})}
		s.Peer.cfg.Handler = slow
		ctx, cancel := context.WithCancel(t.Context())
		a := s.call(ctx, req("tools/call", `{"_meta":{"progressToken":"t"}}`))
		s.read()
		// 95 bytes or so each: about ten fit, of both kinds together.
		for i := range 40 {
			s.say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":%d}}`, i),
				`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"pad":"xxxxxxxxxxxxxxxxxxxxxxx"}}`)
		}
		if money.left < 0 || money.left > 200 {
			t.Errorf("%d bytes left", money.left)
		}
		counts := map[Drop]int{}
		for _, d := range s.log.drops {
			counts[d]++
		}
		if counts[DropMailbox] == 0 || counts[DropUnsolicited] == 0 || counts[DropMailbox]+counts[DropUnsolicited] < 60 {
			t.Errorf("dropped %v", counts)
		}
		cancel()
		close(slow.hold)
		<-a.done
		s.read() // the cancel
		synctest.Wait()
		if money.left != 1000 {
			t.Errorf("%d bytes left at rest", money.left)
		}
	})
	if money.left != 1000 {
		t.Errorf("%d bytes left at the end", money.left)
	}
}

func TestAServerThatFloodsWithPingsAndReadsNothing(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, s *server) {
		for range 2000 {
			s.say(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		}
		if len(s.log.drops) == 0 || s.log.drops[0] != DropReply {
			t.Errorf("%d dropped", len(s.log.drops))
		}
		time.Sleep(time.Minute)
		if ReasonOf(s.Err()) != Ended {
			t.Errorf("the leg ended with %v", s.Err())
		}
	})
}

// W4.8
func TestInitialize(t *testing.T) {
	const good = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"d","version":"1"},"instructions":"i"}`
	for name, tc := range map[string]struct {
		result string // or a whole error member
		want   string
	}{
		"usable":                    {`"result":` + good, ""},
		"a revision we do not take": {`"result":{"protocolVersion":"1999-01-01","capabilities":{}}`, `unusable answer to initialize: protocol version "1999-01-01"`},
		"no version":                {`"result":{"capabilities":{}}`, "unusable answer to initialize: no protocolVersion in it"},
		"no object":                 {`"result":"hello"`, "unusable answer to initialize: no protocolVersion in it"},
		"an error":                  {`"error":{"code":-32601,"message":"method not found"}`, "method not found"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, Config{}, func(t *testing.T, s *server) {
				type done struct {
					in  *Init
					err error
				}
				c := make(chan done, 1)
				go func() {
					in, err := s.Initialize(t.Context(), []byte(`{"protocolVersion":"2025-11-25"}`), func(r string) bool { return r == "2025-06-18" })
					c <- done{in, err}
				}()
				s.want(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`)
				s.say(`{"jsonrpc":"2.0","id":1,` + tc.result + `}`)
				if tc.want == "" {
					s.want(`{"jsonrpc":"2.0","method":"notifications/initialized"}`) // R9, C28
				}
				got := <-c
				if tc.want != "" {
					if got.err == nil || got.err.Error() != tc.want {
						t.Errorf("error %v, want %s", got.err, tc.want)
					}
					return
				}
				if got.err != nil || string(got.in.Raw) != good || got.in.Revision != "2025-06-18" || string(got.in.Capabilities) != `{"tools":{}}` ||
					got.in.Name != "d" || got.in.Version != "1" || string(got.in.Instructions) != `"i"` {
					t.Errorf("%+v, %v", got.in, got.err)
				}
			})
		})
	}
}

// B6.1: a request that names a task belongs to who waits for that one's result,
// and to no other call.
func TestARequestThatNamesATask(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, s *server) {
		s.log.serve = whose
		ask := func(task, want string) {
			t.Helper()
			s.say(`{"jsonrpc":"2.0","id":"r","method":"elicitation/create","params":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":` + task + `}}}}`)
			s.want(`{"jsonrpc":"2.0","id":"r","result":{"of":` + want + `}}`)
		}
		wait := func(task string) *outcome {
			r := s.call(t.Context(), Request{Method: "tasks/result", Params: []byte(`{"taskId":"` + task + `"}`), Value: task})
			s.read()
			return r
		}
		call := s.call(t.Context(), req("tools/call", ""))
		s.read()
		ask(`"a"`, `null`)
		a, b := wait("a"), wait("b")
		ask(`"a"`, `"a"`)
		ask(`"\u0062"`, `"b"`)
		ask(`"c"`, `null`)
		ask(`7`, `null`) // three calls that may ask are in flight
		for id := range 3 {
			s.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, id+1))
		}
		for _, o := range []*outcome{call, a, b} {
			o.wantResult(t, "{}")
		}
	})
}

// B6.6, B12.10: a wait for a task's result that is refused does not end what the
// task asks; one that is over does.
func TestARequestThatNamesATaskOutlivesARefusedWait(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, s *server) {
		release := make(chan struct{})
		s.log.serve = func(ctx context.Context, _ Incoming) ([]byte, *jsonrpc.Error) {
			select {
			case <-release:
				return []byte(`{"asked":true}`), nil
			case <-ctx.Done():
				return nil, jsonrpc.Errorf(-32603, "over")
			}
		}
		const about = `{"taskId":"a"}`
		ask := func(id string) {
			s.say(`{"jsonrpc":"2.0","id":"` + id + `","method":"elicitation/create","params":{"_meta":{"io.modelcontextprotocol/related-task":` + about + `}}}`)
		}
		first := s.call(t.Context(), req("tasks/result", about))
		s.read()
		ask("r")
		s.say(`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"not yet"}}`)
		<-first.done
		second := s.call(t.Context(), req("tasks/result", about))
		s.read()
		ask("q")
		s.say(`{"jsonrpc":"2.0","id":2,"result":{}}`)
		second.wantResult(t, "{}")
		s.want(`{"jsonrpc":"2.0","id":"q","error":{"code":-32603,"message":"over"}}`)
		close(release)
		s.want(`{"jsonrpc":"2.0","id":"r","result":{"asked":true}}`)
	})
}

// A Handler that panics costs the request that it served, or the notification,
// and nothing else.
func TestAPanicOfTheHandlerEndsNothing(t *testing.T) {
	var panics []any
	hooks := Hooks{Panicked: func(v any, _ []byte) { panics = append(panics, v) }}
	bubble(t, Config{Hooks: hooks}, func(t *testing.T, s *server) {
		s.log.serve = func(context.Context, Incoming) ([]byte, *jsonrpc.Error) { panic("asked") }
		s.say(`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`)
		s.want(`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"internal error"}}`)
		s.log.told = func() { panic("told") }
		s.say(`{"jsonrpc":"2.0","method":"notifications/x"}`)
		synctest.Wait()
		s.say(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		s.want(`{"jsonrpc":"2.0","id":2,"result":{}}`)
		if len(panics) != 2 || panics[0] != "asked" || panics[1] != "told" {
			t.Errorf("%v", panics)
		}
	})
}
