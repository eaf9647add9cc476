package proxy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// shop is a workload of 2025-11-25 in memory that runs tasks of its own; every
// key has a leg, which is a real one.
type shop struct {
	t       *testing.T
	refuses bool // every call, for being a task or for being none

	mu    sync.Mutex
	goods map[string]good
	legs  map[upstream.Key]*shopLeg
	calls []string // methods, of tools/call with the name, "+task" for one
	jobs  []*job
}

// good is a tool; run returns the outcome as members of a response.
type good struct {
	support, meta string
	// early: it asks before its result is waited for. hasty: whoever asks for
	// the result of a task too early gets an error.
	early, hasty bool
	run          func(j *job) string
}

// shopLeg is the shop's end of one leg, and the leg.
type shopLeg struct {
	*peer.Peer
	s      *shop
	init   *peer.Init
	level  upstream.Level
	shared upstream.Shared

	mu      sync.Mutex
	to      peer.Receiver
	ended   bool
	serial  int
	waiting map[string]chan string // our requests, by id
}

// job is a call that runs.
type job struct {
	leg    *shopLeg
	good   good
	id     string // of the task, empty for a plain call
	params []byte
	ctx    context.Context
	cancel context.CancelFunc
	opened chan struct{} // closed by the first tasks/result
	open   sync.Once
	done   chan struct{}
	gone   bool // guarded by shop.mu: forgotten

	mu                       sync.Mutex
	status, message, outcome string
}

const shopInit = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}},"serverInfo":{"name":"shop","version":"1"}}`

func (s *shop) Era(context.Context) (upstream.Era, error) { return upstream.EraLegacy, nil }

func (s *shop) OpenSession(context.Context, upstream.SessionRequest) (upstream.Leg, error) {
	return nil, errors.New("no sessions here")
}

func (s *shop) Conversation(context.Context) (upstream.Conversation, error) {
	return nil, errors.New("no conversation here")
}

func (s *shop) Instance(ctx context.Context, key upstream.Key) (upstream.Lease, error) {
	key.Any = false
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.legs[key]
	if l == nil || l.Err() != nil {
		l = &shopLeg{s: s, waiting: map[string]chan string{}}
		l.Peer = peer.New(l, peer.Config{Handler: &l.shared})
		s.legs[key] = l
		s.mu.Unlock()
		in, err := l.Initialize(ctx, upstream.InitializeParams(key), upstream.Accept)
		s.mu.Lock()
		if err != nil {
			return upstream.Lease{}, err
		}
		l.init = in
	}
	return upstream.Lease{Leg: l, Shared: &l.shared, Lane: key.Lane, Release: func() {}}, nil
}

// close ends everything.
func (s *shop) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.jobs {
		j.cancel()
	}
	for _, l := range s.legs {
		l.Peer.Close(nil)
	}
}

// only is the one leg there is.
func (s *shop) only() *shopLeg {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.Collect(maps.Values(s.legs))
	if len(all) != 1 {
		s.t.Fatalf("%d legs", len(all))
	}
	return all[0]
}

// saw counts the calls of a kind.
func (s *shop) saw(call string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if c == call {
			n++
		}
	}
	return n
}

// forgets drops all tasks.
func (s *shop) forgets() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.jobs {
		j.gone = true
	}
}

func (l *shopLeg) Init() *peer.Init       { return l.init }
func (l *shopLeg) Level() *upstream.Level { return &l.level }

// Start implements peer.Link.
func (l *shopLeg) Start(to peer.Receiver) { l.to = to }

// Inline implements peer.Link.
func (l *shopLeg) Inline() bool { return false }

// Close implements peer.Link, and upstream.Leg.
func (l *shopLeg) Close(error) { l.dies() }

// dies is the end of the process.
func (l *shopLeg) dies() {
	l.mu.Lock()
	was := l.ended
	l.ended = true
	l.mu.Unlock()
	if !was {
		l.to.Ended(errors.New("it exited"))
	}
}

// Send implements peer.Link.
func (l *shopLeg) Send(_ context.Context, out *peer.Outgoing) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return &peer.Failure{Reason: peer.Ended, NotDelivered: true}
	}
	m, err := jsonrpc.Parse(out.Raw, strictjson.FromWorkload)
	if err != nil {
		return err
	}
	if m.Kind == jsonrpc.KindResponse {
		if answer := l.waiting[m.ID.String()]; answer != nil {
			answer <- string(out.Raw)
		}
		return nil
	}
	go l.serve(m)
	return nil
}

func (l *shopLeg) say(text string) {
	l.mu.Lock()
	over := l.ended
	l.mu.Unlock()
	if !over {
		l.to.Deliver([]byte(text))
	}
}

func (l *shopLeg) serve(m *jsonrpc.Message) {
	name := ""
	if m.Method == mcp.MethodToolsCall {
		raw, _ := strictjson.Get(m.Params, "name")
		name, _ = strictjson.String(raw)
		name = " " + name
	}
	_, augmented := strictjson.Get(m.Params, "task")
	if augmented {
		name += " +task"
	}
	l.s.mu.Lock()
	l.s.calls = append(l.s.calls, m.Method+name)
	l.s.mu.Unlock()
	if m.Kind == jsonrpc.KindRequest {
		l.say(`{"jsonrpc":"2.0","id":` + m.ID.String() + `,` + l.answer(m, augmented) + `}`)
	}
}

func (l *shopLeg) answer(m *jsonrpc.Message, augmented bool) string {
	switch m.Method {
	case "initialize":
		return `"result":` + shopInit
	case mcp.MethodToolsList:
		return `"result":` + l.s.list()
	case mcp.MethodToolsCall:
		return l.call(m, augmented)
	}
	raw, _ := strictjson.Get(m.Params, "taskId")
	id, _ := strictjson.String(raw)
	j := l.job(id)
	if j == nil {
		return `"error":{"code":-32602,"message":"no such task"}`
	}
	switch m.Method {
	case mcp.MethodTasksResult:
		j.open.Do(func() { close(j.opened) })
		if j.good.hasty && j.said() == "" {
			return `"error":{"code":-32602,"message":"not yet"}`
		}
		<-j.done
		related, err := strictjson.Splice([]byte(`{`+j.said()+`}`), strictjson.Set([]byte(`{"taskId":"`+id+`"}`), "result", "_meta", mcp.MetaRelatedTask))
		if text := j.said(); err != nil || !strings.HasPrefix(text, `"result"`) {
			return text
		}
		return strings.TrimSuffix(strings.TrimPrefix(string(related), "{"), "}")
	case mcp.MethodTasksCancel:
		if !j.ends("cancelled", "", `"error":{"code":-32603,"message":"it was cancelled"}`) {
			return `"error":{"code":-32602,"message":"it is over"}`
		}
		j.cancel()
	}
	return `"result":` + j.shown()
}

func (s *shop) list() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for name, g := range s.goods {
		item := `{"name":"` + name + `","inputSchema":{"type":"object"}`
		if g.support != "" {
			item += `,"execution":{"taskSupport":"` + g.support + `"}`
		}
		if g.meta != "" {
			item += `,"_meta":` + g.meta
		}
		all = append(all, item+"}")
	}
	return `{"tools":[` + strings.Join(all, ",") + `]}`
}

func (l *shopLeg) job(id string) *job {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	for _, j := range l.s.jobs {
		if j.id == id && j.leg == l && !j.gone {
			return j
		}
	}
	return nil
}

func (l *shopLeg) call(m *jsonrpc.Message, augmented bool) string {
	raw, _ := strictjson.Get(m.Params, "name")
	name, _ := strictjson.String(raw)
	l.s.mu.Lock()
	g, ok := l.s.goods[name]
	l.s.mu.Unlock()
	support := g.support
	switch {
	case l.s.refuses:
		return `"error":{"code":-32601,"message":"not so"}`
	case !ok:
		return `"error":{"code":-32602,"message":"no such tool"}`
	case augmented && support != "optional" && support != "required":
		return `"error":{"code":-32601,"message":"not as a task"}`
	case !augmented && support == "required":
		return `"error":{"code":-32601,"message":"only as a task"}`
	}
	j := &job{leg: l, good: g, params: m.Params, opened: make(chan struct{}), done: make(chan struct{}), status: "working", message: "begun"}
	j.ctx, j.cancel = context.WithCancel(context.Background())
	l.s.mu.Lock()
	if augmented {
		j.id = fmt.Sprint("job-", len(l.s.jobs))
	}
	l.s.jobs = append(l.s.jobs, j)
	l.s.mu.Unlock()
	if !augmented {
		defer j.cancel()
		return g.run(j)
	}
	go func() {
		outcome := g.run(j)
		status := "completed"
		if strings.HasPrefix(outcome, `"error"`) || strings.Contains(outcome, `"isError":true`) {
			status = "failed"
		}
		j.ends(status, "", outcome)
	}()
	return `"result":{"task":` + j.shown() + `}`
}

func (j *job) ends(status, message, outcome string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.outcome != "" {
		return false
	}
	j.status, j.message, j.outcome = status, message, outcome
	close(j.done)
	return true
}

func (j *job) said() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.outcome
}

// shown is the task as the shop shows it.
func (j *job) shown() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	message := ""
	if j.message != "" {
		message = `"statusMessage":"` + j.message + `",`
	}
	return `{"taskId":"` + j.id + `","status":"` + j.status + `",` + message + `"createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":600000,"pollInterval":2000}`
}

// says sets the status message.
func (j *job) says(message string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.message = message
}

// ask asks the client, as a server does that has to: where its result is waited
// for. It returns the members of the answer.
func (j *job) ask(method, params string) string {
	if j.id != "" {
		if !j.good.early {
			select {
			case <-j.opened:
			case <-j.ctx.Done():
				return ""
			}
		}
		related, err := strictjson.Splice([]byte(params), strictjson.Set([]byte(`{"taskId":"`+j.id+`"}`), "_meta", mcp.MetaRelatedTask))
		if err != nil {
			panic(err)
		}
		params = string(related)
	}
	l := j.leg
	answer := make(chan string, 1)
	l.mu.Lock()
	l.serial++
	id := fmt.Sprintf(`"q%d"`, l.serial)
	l.waiting[id] = answer
	l.mu.Unlock()
	l.say(`{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":` + params + `}`)
	select {
	case text := <-answer:
		return text
	case <-j.ctx.Done():
		return ""
	}
}

// notes sends a notification.
func (j *job) notes(method, params string) {
	j.leg.say(`{"jsonrpc":"2.0","method":"` + method + `","params":` + params + `}`)
}

// waits is how long a job takes, unless it is cancelled.
func (j *job) waits(d time.Duration) { _ = pause(j.ctx, d) }
