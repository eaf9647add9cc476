package stdio

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/agent"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// place is a client's session at a shared process: it writes down what it is
// sent.
type place struct {
	upstream.Leg
	mu   sync.Mutex
	got  []string
	ends []string
}

func (p *place) Request(_ context.Context, in peer.Incoming) ([]byte, *jsonrpc.Error) {
	p.note(in)
	return []byte(`{"mine":true}`), nil
}

func (p *place) Notification(in peer.Incoming) { p.note(in) }

func (p *place) note(in peer.Incoming) {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := in.Msg.Method + " " + string(in.Msg.Params)
	if in.Call != nil {
		text += " for " + fmt.Sprint(*in.Call.Value().(*string))
	}
	p.got = append(p.got, strings.TrimSpace(text))
}

// take returns what came since the last time.
func (p *place) take() string {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	got := strings.Join(p.got, "; ")
	p.got = nil
	return got
}

func (p *place) call(t *testing.T, method, params string) string {
	t.Helper()
	value := method
	r := peer.Request{Method: method, Value: &value}
	if params != "" {
		r.Params = []byte(params)
	}
	if _, ok := strictjson.GetPath(r.Params, "_meta", "progressToken"); ok {
		r.Token, _ = strictjson.GetPath(r.Params, "_meta", "progressToken")
	}
	a, err := p.Call(t.Context(), r)
	switch {
	case err != nil:
		return "failed: " + string(peer.ReasonOf(err))
	case a.Err != nil:
		return fmt.Sprint(a.Err.Code)
	}
	return string(a.Result)
}

func (r *rig) sit() *place {
	r.t.Helper()
	p := &place{}
	leg, err := r.OpenSession(r.t.Context(), upstream.SessionRequest{
		Params:  []byte(`{"protocolVersion":"2025-06-18","capabilities":{"sampling":{}},"clientInfo":{"name":"c","version":"1"}}`),
		Handler: p,
		Ended:   func(cause error) { p.ends = append(p.ends, cause.Error()) },
	})
	if err != nil {
		r.t.Fatal(err)
	}
	p.Leg = leg
	return p
}

// chatty is a child that does what it is asked to, and writes down what it was
// told.
type chatty struct {
	mu   sync.Mutex
	told []string
}

func (c *chatty) program(k *child, m *jsonrpc.Message) {
	c.mu.Lock()
	switch {
	case m.Kind == jsonrpc.KindResponse:
		c.told = append(c.told, string(m.Raw))
	case m.Method != "x":
		c.told = append(c.told, strings.TrimSpace(fmt.Sprint(k.number, " ", m.Method, " ", string(m.Params))))
	}
	c.mu.Unlock()
	switch {
	case m.Method == "initialize":
		k.say(`{"jsonrpc":"2.0","id":` + m.ID.String() + `,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true},"logging":{}},"serverInfo":{"name":"fake","version":"1"}}}`)
	case m.Method == "say": // what params.line says, then the answer
		raw, _ := strictjson.Get(m.Params, "line")
		k.say(string(raw))
		k.say(`{"jsonrpc":"2.0","id":` + m.ID.String() + `,"result":{}}`)
	case m.Method == "progress":
		token, _ := strictjson.GetPath(m.Params, "_meta", "progressToken")
		k.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + string(token) + `,"progress":1}}`)
		k.say(`{"jsonrpc":"2.0","id":` + m.ID.String() + `,"result":{}}`)
	default:
		polite(k, m)
	}
}

// wantTold compares what the children were told since the last time.
func (c *chatty) wantTold(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Equal(c.told, want) {
		t.Errorf("told\n%s\nwant\n%s", strings.Join(c.told, "\n"), strings.Join(want, "\n"))
	}
	c.told = nil
}

func shared(t *testing.T, cfg Config, f func(t *testing.T, r *rig, c *chatty)) {
	t.Helper()
	cfg.Model = Shared
	bubble(t, cfg, func(t *testing.T, r *rig) {
		c := &chatty{}
		r.program = c.program
		f(t, r, c)
	})
}

const hello = `initialize {"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"fairlead","version":"1"}}`

// R23, P15: one process, initialized with empty capabilities, for sessions and
// for clients without.
func TestOneProcessForAll(t *testing.T) {
	shared(t, Config{}, func(t *testing.T, r *rig, c *chatty) {
		a, b := r.sit(), r.sit()
		lease, err := r.Instance(t.Context(), upstream.Key{Capabilities: `{"sampling":{}}`})
		if err != nil {
			t.Fatal(err)
		}
		defer lease.Release()
		if _, err := r.Handshake(t.Context()); err != nil {
			t.Error(err)
		}
		for _, leg := range []upstream.Leg{a, b, lease} {
			answer, err := leg.Call(t.Context(), peer.Request{Method: "x"})
			if err != nil || string(answer.Result) != `{"n":1}` || leg.Init().Name != "fake" {
				t.Errorf("%s, %v", answer.Result, err)
			}
		}
		c.wantTold(t, "1 "+hello, "1 notifications/initialized")
		if err := a.Notify(t.Context(), "notifications/roots/list_changed", nil); err != nil {
			t.Error(err)
		}
		a.Close(nil)
		c.wantTold(t) // one client's news are not for it (section 13)
		if got := b.call(t, "x", ""); got != `{"n":1}` || a.Err() == nil {
			t.Errorf("after the other left: %s", got)
		}
		r.wantEnds()
	})
}

// R23: people who are known by name share a process only if its owner says so.
func TestPeopleShareAProcessOnlyOnPurpose(t *testing.T) {
	for allow, want := range map[bool]error{false: upstream.ErrNotShared, true: nil} {
		shared(t, Config{AcrossPrincipals: allow}, func(t *testing.T, r *rig, _ *chatty) {
			_, err := r.OpenSession(t.Context(), upstream.SessionRequest{Principal: "alice"})
			lease, other := r.Instance(t.Context(), upstream.Key{Principal: "bob"})
			if err != want || other != want {
				t.Errorf("allowed %v: %v, %v", allow, err, other)
			}
			if other == nil {
				lease.Release()
			}
		})
	}
}

// B19.4 (isolation): equal tokens and requests of two clients do not meet, and
// what names no request reaches nobody whom it does not concern.
func TestClientsOfASharedProcessSeeOnlyWhatIsTheirs(t *testing.T) {
	var (
		mu      sync.Mutex
		refused []Refusal
		cfg     Config
	)
	cfg.Hooks.Refused = func(what Refusal) {
		mu.Lock()
		defer mu.Unlock()
		refused = append(refused, what)
	}
	shared(t, cfg, func(t *testing.T, r *rig, _ *chatty) {
		a, b := r.sit(), r.sit()
		var wg sync.WaitGroup
		for _, p := range []*place{a, b} {
			wg.Go(func() { p.call(t, "progress", `{"_meta":{"progressToken":"same"}}`) })
		}
		wg.Wait()
		for name, p := range map[string]*place{"a": a, "b": b} { // B3.6, B11.4
			if got := p.take(); got != `notifications/progress {"progressToken":"same","progress":1} for progress` {
				t.Errorf("%s got %s", name, got)
			}
		}
		// Changes are for all, those of a resource for who wants them (B10.4).
		if got := b.call(t, "resources/subscribe", `{"uri":"file:///x"}`); got != "{}" {
			t.Error(got)
		}
		say := func(p *place, line string) {
			p.call(t, "say", `{"line":`+line+`}`)
			synctest.Wait() // what is said may be heard after the answer
		}
		say(a, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		say(a, `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///x/part"}}`)
		say(a, `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///xy"}}`)
		say(a, `{"jsonrpc":"2.0","method":"vendor/news"}`)
		if got := a.take(); got != "notifications/tools/list_changed" {
			t.Errorf("a got %s", got)
		}
		if got := b.take(); got != `notifications/tools/list_changed; notifications/resources/updated {"uri":"file:///x/part"}` {
			t.Errorf("b got %s", got)
		}
		// A log message during the only request is that request's (B11.1).
		log := `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"a's"}}`
		say(a, log)
		if got := a.take(); got != `notifications/message {"level":"info","data":"a's"} for say` {
			t.Errorf("a got %s", got)
		}
		// Not when there are two, nor after one was given up that may go on.
		ctx, stop := context.WithCancel(t.Context())
		gone := make(chan struct{})
		go func() { defer close(gone); _, _ = b.Call(ctx, peer.Request{Method: "hang"}) }()
		synctest.Wait()
		say(a, log)
		stop()
		<-gone
		say(a, log)
		say(a, `{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{}}`)
		if got := a.take() + b.take(); got != "" {
			t.Errorf("somebody got %s", got)
		}
		time.Sleep(settleTime + time.Second)
		say(a, log)
		if got := a.take(); !strings.Contains(got, "a's") {
			t.Errorf("long after: %s", got)
		}
		mu.Lock()
		defer mu.Unlock()
		want := []Refusal{RefusedNotification, RefusedLog, RefusedLog, RefusedRequest}
		if !slices.Equal(refused, want) {
			t.Errorf("refused %v, want %v", refused, want)
		}
	})
}

// B6.1, B11.1: what a handler says as soon as it hears that it was given up is
// nobody's, and neither is what the next process says while something may still
// be on its way.
func TestLastWordsOnASharedProcessAreNobodys(t *testing.T) {
	shared(t, Config{}, func(t *testing.T, r *rig, c *chatty) {
		const log = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"b's"}}`
		r.program = func(k *child, m *jsonrpc.Message) {
			if m.Method == "notifications/cancelled" {
				k.say(log)
				return
			}
			c.program(k, m)
		}
		a, b := r.sit(), r.sit()
		hang := func(ctx context.Context, p *place) (done chan struct{}) {
			done = make(chan struct{})
			value := "hang"
			go func() {
				defer close(done)
				_, _ = p.Call(ctx, peer.Request{Method: "hang", Value: &value})
			}()
			synctest.Wait()
			return done
		}
		ctx, stop := context.WithCancel(t.Context())
		lives := hang(t.Context(), a)
		gone := hang(ctx, b)
		stop()
		<-gone
		if got := a.take() + b.take(); got != "" {
			t.Errorf("somebody got %s", got)
		}
		r.child(0).end(agent.Exit{Code: 1})
		<-lives
		say := strings.Replace(`{"line":LOG}`, "LOG", log, 1)
		if got := a.call(t, "say", say) + a.take(); strings.Contains(got, "b's") {
			t.Errorf("from the next process a got %s", got)
		}
		time.Sleep(settleTime + time.Second)
		if got := a.call(t, "say", say) + a.take(); !strings.Contains(got, "b's") {
			t.Errorf("long after: %s", got)
		}
	})
}

// B11.1, B11.3: the process logs at the most verbose level that anybody wants,
// each client gets its own.
func TestLevelsOfASharedProcess(t *testing.T) {
	shared(t, Config{}, func(t *testing.T, r *rig, c *chatty) {
		a, b := r.sit(), r.sit()
		c.wantTold(t, "1 "+hello, "1 notifications/initialized")
		for _, s := range []struct {
			p     *place
			level string
		}{{a, "warning"}, {b, "debug"}, {a, "error"}} {
			if got := s.p.call(t, "logging/setLevel", `{"level":"`+s.level+`"}`); got != "{}" {
				t.Error(got)
			}
		}
		c.wantTold(t, `1 logging/setLevel {"level":"warning"}`, `1 logging/setLevel {"level":"debug"}`)
		for level, want := range map[string][2]bool{"debug": {false, true}, "warning": {false, true}, "error": {true, true}} {
			for i, p := range []*place{a, b} {
				p.call(t, "say", `{"line":{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"`+level+`","data":1}}}`)
				if got := p.take() != ""; got != want[i] {
					t.Errorf("client %d, level %s: %v", i, level, got)
				}
			}
		}
	})
}

// B10.2: one subscription for all who want it.
func TestSubscriptionsOfASharedProcessAreCounted(t *testing.T) {
	shared(t, Config{}, func(t *testing.T, r *rig, c *chatty) {
		a, b := r.sit(), r.sit()
		c.wantTold(t, "1 "+hello, "1 notifications/initialized")
		for _, p := range []*place{a, b, a} {
			p.call(t, "resources/subscribe", `{"uri":"x:1"}`)
		}
		c.wantTold(t, `1 resources/subscribe {"uri":"x:1"}`)
		a.call(t, "resources/unsubscribe", `{"uri":"x:1"}`)
		a.call(t, "resources/unsubscribe", `{"uri":"x:1"}`)
		c.wantTold(t)
		b.Close(nil)
		c.wantTold(t, `1 resources/unsubscribe {"uri":"x:1"}`)
	})
}

// B3.8: what is in flight fails, sessions live on, and the next process is
// told what the last one knew.
func TestSessionsOutliveTheSharedProcess(t *testing.T) {
	shared(t, Config{}, func(t *testing.T, r *rig, c *chatty) {
		a, b := r.sit(), r.sit()
		a.call(t, "logging/setLevel", `{"level":"debug"}`)
		b.call(t, "resources/subscribe", `{"uri":"x:1"}`)
		waits := make(chan string, 1)
		go func() { waits <- b.call(t, "hang", "") }()
		synctest.Wait()
		c.mu.Lock()
		c.told = nil
		c.mu.Unlock()
		if got := a.call(t, "die", ""); got != "failed: workload_restarted" {
			t.Error(got)
		}
		if got := <-waits; got != "failed: workload_restarted" {
			t.Error(got)
		}
		time.Sleep(time.Second) // it comes back by itself: b listens
		c.wantTold(t, "1 die", "2 "+hello, "2 notifications/initialized", `2 logging/setLevel {"level":"debug"}`, `2 resources/subscribe {"uri":"x:1"}`)
		if got := a.take(); got != "notifications/tools/list_changed" { // B10.7
			t.Errorf("a got %s", got)
		}
		if got := b.take(); got != `notifications/tools/list_changed; notifications/resources/updated {"uri":"x:1"}` {
			t.Errorf("b got %s", got)
		}
		if got := a.call(t, "x", ""); got != `{"n":2}` || a.Err() != nil || len(a.ends) > 0 {
			t.Errorf("%s, %v, %v", got, a.Err(), a.ends)
		}
		r.wantEnds(EndCrashed)
	})
}

// R23, B6.5: roots are those of the configuration.
func TestRootsOfASharedProcess(t *testing.T) {
	shared(t, Config{Roots: []Root{{URI: "file:///data", Name: "data"}, {URI: "file:///x"}}}, func(t *testing.T, r *rig, c *chatty) {
		a := r.sit()
		c.wantTold(t, "1 "+strings.Replace(hello, "{}", `{"roots":{}}`, 1), "1 notifications/initialized")
		a.call(t, "say", `{"line":{"jsonrpc":"2.0","id":"r","method":"roots/list"}}`)
		c.wantTold(t, `1 say {"line":{"jsonrpc":"2.0","id":"r","method":"roots/list"}}`,
			`{"jsonrpc":"2.0","id":"r","result":{"roots":[{"uri":"file:///data","name":"data"},{"uri":"file:///x"}]}}`)
		if got := a.take(); got != "" {
			t.Errorf("the client got %s", got)
		}
	})
	if got := string(rootsResult([]Root{{URI: "file:///data", Name: `"`}, {URI: "file:///x"}})); got != `{"roots":[{"uri":"file:///data","name":"\""},{"uri":"file:///x"}]}` {
		t.Error(got)
	}
}

func TestAnIdleSharedProcessEndsAndItsSessionsDoNot(t *testing.T) { // P15
	shared(t, Config{Idle: time.Minute}, func(t *testing.T, r *rig, _ *chatty) {
		a := r.sit()
		time.Sleep(2 * time.Minute)
		r.wantEnds(EndIdle)
		if got := a.call(t, "x", ""); got != `{"n":2}` || a.Err() != nil {
			t.Errorf("%s, %v", got, a.Err())
		}
	})
}
