package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/server"
)

// stream is an event stream that is read in the background.
type stream struct {
	t        *testing.T
	messages chan message
	close    func()
}

func (p *peer) follow(resp *http.Response) *stream {
	done := make(chan struct{})
	var once sync.Once
	s := &stream{t: p.t, messages: make(chan message, 64)}
	s.close = func() { once.Do(func() { close(done); _ = resp.Body.Close() }) }
	p.t.Cleanup(s.close)
	go func() {
		defer close(s.messages)
		p.each(resp, func(m message) bool {
			select {
			case s.messages <- m:
				return true
			case <-done: // nobody reads any more
				return false
			}
		})
	}()
	return s
}

// get opens the standalone stream of a session.
func (p *peer) get() *stream { return p.follow(p.openGet()) }

func (p *peer) openGet() *http.Response {
	p.t.Helper()
	req, err := http.NewRequestWithContext(context.WithoutCancel(p.t.Context()), http.MethodGet, p.url, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Mcp-Session-Id", p.session)
	if p.token != "" {
		req.Header.Set("Authorization", "Bearer "+p.token)
	}
	resp, err := p.client.Do(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		p.t.Fatalf("GET: %v %v", resp, err)
	}
	return resp
}

// listen opens a subscription and reads its ack.
func (p *peer) listen(filter string) (s *stream, ack message) {
	p.t.Helper()
	s = p.follow(p.begin("subscriptions/listen", `{"notifications":`+filter+`}`))
	ack = s.next()
	if ack.Method != mcp.NotifyAcknowledged {
		p.t.Fatalf("first came %+v", ack)
	}
	return s, ack
}

func (s *stream) next() message {
	s.t.Helper()
	select {
	case m, ok := <-s.messages:
		if !ok {
			s.t.Fatal("the stream has ended")
		}
		return m
	case <-time.After(10 * time.Second):
		s.t.Fatal("nothing came")
	}
	return message{}
}

// methods reads until a notification of the given method has come, and returns
// what came before it.
func (s *stream) methods(last string) (before []string) {
	s.t.Helper()
	for {
		m := s.next()
		if m.Method == last {
			return before
		}
		before = append(before, m.Method)
	}
}

func watched(t *testing.T, o server.Options) *server.Server {
	o.Coalesce = time.Millisecond
	s := server.New(server.Info{Name: "w", Version: "1"}, o)
	must(t, s.AddTool(server.Tool{Name: "t"}, nothing))
	must(t, s.AddPrompt(server.Prompt{Name: "p"}, nil))
	must(t, s.AddResource(server.Resource{URI: "x:a"}, text))
	must(t, s.AddResource(server.Resource{URI: "x:b"}, text))
	must(t, s.AddTemplate(server.Template{URITemplate: "x:t/{a}"}, text))
	return s
}

// change makes one change of each kind.
func change(t *testing.T, s *server.Server, n int) {
	must(t, s.AddTool(server.Tool{Name: fmt.Sprint("t", n)}, nothing))
	must(t, s.AddPrompt(server.Prompt{Name: fmt.Sprint("p", n)}, nil))
	must(t, s.AddTemplate(server.Template{URITemplate: fmt.Sprint("x:", n, "/{a}")}, text))
}

// W24.4, W26.9, W27.6: sessions hear of changes of what they were offered.
func TestSessionsHearOfChanges(t *testing.T) {
	for _, revision := range mcp.Legacy() {
		s := watched(t, server.Options{})
		p := newRig(t, s).connect(revision, `{}`)
		get := p.get()
		change(t, s, 1)
		var got []string
		for range 3 {
			got = append(got, get.next().Method)
		}
		slices.Sort(got)
		if want := []string{mcp.NotifyPromptsChanged, mcp.NotifyResourcesChanged, mcp.NotifyToolsChanged}; !slices.Equal(got, want) {
			t.Errorf("%s: %v", revision, got)
		}
		must(t, s.Broadcast("notifications/own", map[string]int{"a": 1}))
		if m := get.next(); m.Method != "notifications/own" || field(m.Params, "a") != "1" {
			t.Errorf("%s: broadcast %+v", revision, m)
		}
	}
}

// W4.12: a session that was not told of a capability hears nothing of it.
func TestSessionsHearOnlyOfWhatTheyWereOffered(t *testing.T) {
	s := server.New(server.Info{Name: "w"}, server.Options{Coalesce: time.Millisecond, Offers: server.Offers{Tools: true}})
	p := newRig(t, s).connect(mcp.Revision20251125, `{}`)
	get := p.get()
	change(t, s, 1)
	if m := get.next(); m.Method != mcp.NotifyToolsChanged {
		t.Errorf("first %+v", m)
	}
	must(t, s.Broadcast("notifications/last", nil))
	if before := get.methods("notifications/last"); before != nil {
		t.Errorf("then %v", before)
	}
}

// W34.7: nor of what it may not see.
func TestChangesAreToldToThoseWhoMaySeeThem(t *testing.T) {
	s := watched(t, server.Options{})
	r := newRig(t, s)
	blind, sees := r.connect(mcp.Revision20251125, `{}`), r.connect(mcp.Revision20251125, `{"sampling":{}}`)
	modernBlind, modernSees := r.connect(mcp.Revision20260728, `{}`), r.connect(mcp.Revision20260728, `{"sampling":{}}`)
	a, b := blind.get(), sees.get()
	c, _ := modernBlind.listen(`{"toolsListChanged":true,"promptsListChanged":true}`)
	d, _ := modernSees.listen(`{"toolsListChanged":true,"promptsListChanged":true}`)
	must(t, s.AddTool(server.Tool{Name: "m", Visible: func(c server.Caller) bool { return c.Declares(mcp.CapSampling) }}, nothing))
	b.methods(mcp.NotifyToolsChanged)
	d.methods(mcp.NotifyToolsChanged)
	must(t, s.AddPrompt(server.Prompt{Name: "last"}, nil))
	for name, st := range map[string]*stream{"session": a, "listen": c} {
		if before := st.methods(mcp.NotifyPromptsChanged); before != nil {
			t.Errorf("%s that may not see it: %v", name, before)
		}
	}
}

// W26.8: subscriptions of a session.
func TestSubscriptionsOfASession(t *testing.T) {
	for _, revision := range mcp.Legacy() {
		s := watched(t, server.Options{MaxSubscriptions: 2})
		p := newRig(t, s).connect(revision, `{}`)
		get := p.get()
		for _, uri := range []string{"x:a", "x:t/1", "x:a"} {
			if got := string(p.must("resources/subscribe", fmt.Sprintf(`{"uri":%q}`, uri))); got != "{}" {
				t.Errorf("subscribe: %s", got)
			}
		}
		if err := p.fails("resources/subscribe", `{"uri":"x:b"}`); err.Code != -32603 || field(err.Data, "reason") != "busy" {
			t.Errorf("one too many: %v", err)
		}
		if err := p.fails("resources/subscribe", `{"uri":"x:none"}`); err.Code != -32002 || field(err.Data, "uri") != "x:none" {
			t.Errorf("unknown: %v", err) // W26.6
		}
		if err := p.fails("resources/subscribe", `{}`); err.Code != -32602 {
			t.Error(err)
		}
		s.ResourceUpdated("x:b")
		s.ResourceUpdated("x:a")
		if m := get.next(); m.Method != mcp.NotifyResourceUpdated || field(m.Params, "uri") != "x:a" {
			t.Errorf("%s: %+v", revision, m)
		}
		p.must("resources/unsubscribe", `{"uri":"x:a"}`)
		p.must("resources/unsubscribe", `{"uri":"x:never"}`)
		s.ResourceUpdated("x:a")
		s.ResourceUpdated("x:t/1")
		if m := get.next(); field(m.Params, "uri") != "x:t/1" {
			t.Errorf("%s after unsubscribe: %+v", revision, m)
		}
	}
}

// W33.1, W33.3, W33.4, W33.5, W6.10; W1.15
func TestAListenGetsWhatItAskedForAndNothingElse(t *testing.T) {
	s := watched(t, server.Options{})
	p := newRig(t, s).connect(mcp.Revision20260728, `{}`)
	all, ack := p.listen(`{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["x:a","x:none","x:a","x:t/7"],"taskIds":[],"else":true}`)
	if got := field(ack.Params, "notifications"); got != `{"promptsListChanged":true,"resourceSubscriptions":["x:a","x:t/7"],"resourcesListChanged":true,"toolsListChanged":true}` {
		t.Errorf("ack %s", got)
	}
	one, ack := p.listen(`{"promptsListChanged":true}`)
	if got := field(ack.Params, "notifications"); got != `{"promptsListChanged":true}` || field(ack.Params, "_meta", mcp.MetaSubscriptionID) != "2" {
		t.Errorf("ack %s", ack.Params)
	}
	none, ack := p.listen(`{}`)
	if got := field(ack.Params, "notifications"); got != `{}` {
		t.Errorf("ack %s", got)
	}
	s.ResourceUpdated("x:a")
	s.ResourceUpdated("x:b")
	change(t, s, 1)
	var got []string
	for range 4 {
		m := all.next()
		got = append(got, m.Method+field(m.Params, "uri"))
		if id := field(m.Params, "_meta", mcp.MetaSubscriptionID); id != "1" {
			t.Errorf("%s of subscription %s", m.Method, id)
		}
	}
	slices.Sort(got)
	want := []string{mcp.NotifyPromptsChanged + "none", mcp.NotifyResourcesChanged + "none", mcp.NotifyResourceUpdated + "x:a", mcp.NotifyToolsChanged + "none"}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	if m := one.next(); m.Method != mcp.NotifyPromptsChanged {
		t.Errorf("the one got %+v", m)
	}
	// Logs, progress and broadcasts are nobody's here (W33.9, W20.8, W23.7).
	must(t, s.Broadcast("notifications/own", nil))
	s.Close() // W33.7
	for name, st := range map[string]*stream{"1": all, "2": one, "3": none} {
		m := st.next()
		if string(m.ID) != name || field(m.Result, "resultType") != "complete" || field(m.Result, "_meta", mcp.MetaSubscriptionID) != name {
			t.Errorf("listen %s ended with %+v", name, m)
		}
		if _, more := <-st.messages; more {
			t.Errorf("listen %s goes on", name)
		}
	}
	if err := p.fails("subscriptions/listen", `{"notifications":{}}`); field(err.Data, "reason") != "draining" {
		t.Error(err)
	}
}

func TestListensAreBounded(t *testing.T) {
	s := watched(t, server.Options{MaxListeners: 1, MaxSubscriptions: 1})
	p := newRig(t, s).connect(mcp.Revision20260728, `{}`)
	for params, code := range map[string]int64{
		`{}`: -32602, `{"notifications":5}`: -32602,
		`{"notifications":{"resourceSubscriptions":["x:a","x:b"]}}`: -32603,
	} {
		if err := p.fails("subscriptions/listen", params); err.Code != code {
			t.Errorf("%s: %v", params, err)
		}
	}
	first, _ := p.listen(`{"toolsListChanged":true}`)
	if err := p.fails("subscriptions/listen", `{"notifications":{}}`); err.Code != -32603 || field(err.Data, "reason") != "busy" {
		t.Error(err) // W33.12
	}
	first.close() // W33.8: its place is free again
	deadline := time.Now().Add(10 * time.Second)
	for {
		st := p.follow(p.begin("subscriptions/listen", `{"notifications":{"toolsListChanged":true}}`))
		if m := st.next(); m.Method == mcp.NotifyAcknowledged {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the place of a listen that has ended is never free")
		}
	}
}

// A storm of changes is told in few messages, and nobody waits for a reader
// that does not read.
func TestAStormOfChangesIsToldInFewMessages(t *testing.T) {
	s := watched(t, server.Options{})
	r := newRig(t, s)
	p, idle := r.connect(mcp.Revision20260728, `{}`), r.connect(mcp.Revision20251125, `{}`)
	_ = idle // its queue fills, and it hears when it comes
	st, _ := p.listen(`{"toolsListChanged":true,"promptsListChanged":true}`)
	for i := range 2000 {
		must(t, s.AddTool(server.Tool{Name: fmt.Sprint("storm", i)}, nothing))
	}
	must(t, s.AddPrompt(server.Prompt{Name: "last"}, nil))
	before := st.methods(mcp.NotifyPromptsChanged)
	if len(before) == 0 || len(before) > 1000 {
		t.Errorf("%d messages for 2000 changes", len(before))
	}
}

// W23.2, W23.3, W23.4, W23.10: levels of a session.
func TestLogLevelsOfASession(t *testing.T) {
	s := logging(t)
	p := newRig(t, s).connect(mcp.Revision20251125, `{}`)
	if got := levels(p, `{"name":"log"}`); got != "info notice warning error critical alert emergency" {
		t.Errorf("before setLevel: %s", got)
	}
	if got := string(p.must("logging/setLevel", `{"level":"error"}`)); got != "{}" {
		t.Errorf("setLevel: %s", got)
	}
	if got := levels(p, `{"name":"log"}`); got != "error critical alert emergency" {
		t.Errorf("after setLevel: %s", got)
	}
	for _, params := range []string{`{"level":"loud"}`, `{}`, `{"level":3}`} {
		if err := p.fails("logging/setLevel", params); err.Code != -32602 {
			t.Errorf("%s: %v", params, err)
		}
	}
	other := p.connect(mcp.Revision20251125, `{}`)
	if got := levels(other, `{"name":"log"}`); !strings.HasPrefix(got, "info") {
		t.Errorf("another session: %s", got)
	}
}

// W23.5, W23.6, W23.8; W39.1
func TestLogLevelsOfARequest(t *testing.T) {
	p := newRig(t, logging(t)).connect(mcp.Revision20260728, `{}`)
	if got := levels(p, `{"name":"log"}`); got != "" {
		t.Errorf("without a level: %s", got)
	}
	if got := levels(p, `{"name":"log","_meta":{"io.modelcontextprotocol/logLevel":"alert"}}`); got != "alert emergency" {
		t.Errorf("with alert: %s", got)
	}
	if err := p.fails("tools/call", `{"name":"log","_meta":{"io.modelcontextprotocol/logLevel":"loud"}}`); err.Code != -32602 {
		t.Error(err)
	}
}

func logging(t *testing.T) *server.Server {
	s := server.New(server.Info{Name: "l"}, server.Options{})
	must(t, s.AddTool(server.Tool{Name: "log"}, func(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
		for l := server.LevelDebug; l <= server.LevelEmergency; l++ {
			if err := c.Log(l, "a", map[string]string{"level": l.String()}); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}))
	must(t, s.AddTool(server.Tool{Name: "slog"}, func(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
		log := c.Slog("a").With("a", 1).WithGroup("g").With("b", "2")
		log.Debug("no")
		log.Info("yes", "c", true)
		log.Error("bad", "err", fmt.Errorf("x"))
		return nil, nil
	}))
	return s
}

func levels(p *peer, params string) string {
	p.t.Helper()
	p.notes = nil
	p.must("tools/call", params)
	var got []string
	for _, n := range p.notes {
		if n.Method != mcp.NotifyMessage || field(n.Params, "logger") != "a" || field(n.Params, "data", "level") != field(n.Params, "level") {
			p.t.Errorf("note %+v", n)
		}
		got = append(got, field(n.Params, "level"))
	}
	return strings.Join(got, " ")
}

// P35: slog reaches the client.
func TestSlog(t *testing.T) {
	p := newRig(t, logging(t)).connect(mcp.Revision20251125, `{}`)
	p.must("tools/call", `{"name":"slog"}`)
	var got []string
	for _, n := range p.notes {
		got = append(got, field(n.Params, "level")+" "+field(n.Params, "data"))
	}
	if want := []string{`info {"a":1,"g":{"b":"2","c":true},"msg":"yes"}`, `error {"a":1,"g":{"b":"2","err":"x"},"msg":"bad"}`}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// The program behind a server looks at a resource while somebody watches it.
func TestTheProgramIsToldWhatIsWatched(t *testing.T) {
	heard := make(chan string, 16)
	s := watched(t, server.Options{Watched: func(uri string, watched bool) { heard <- fmt.Sprint(uri, watched) }})
	r := newRig(t, s)
	p, q := r.connect(mcp.Revision20251125, `{}`), r.connect(mcp.Revision20250618, `{}`)
	for _, peer := range []*peer{p, p, q} {
		peer.must("resources/subscribe", `{"uri":"x:a"}`)
	}
	listen, _ := r.connect(mcp.Revision20260728, `{}`).listen(`{"resourceSubscriptions":["x:a","x:b"]}`)
	p.must("resources/unsubscribe", `{"uri":"x:a"}`)
	p.must("resources/unsubscribe", `{"uri":"x:a"}`)
	for _, want := range []string{"x:atrue", "x:btrue"} {
		if got := <-heard; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	listen.close()
	if got := <-heard; got != "x:bfalse" {
		t.Errorf("after the listen: %s", got)
	}
	if n := len(s.Sessions()); n != 2 {
		t.Errorf("%d sessions", n)
	}
	for _, session := range s.Sessions() {
		session.Close(io.EOF)
	}
	if got := <-heard; got != "x:afalse" {
		t.Errorf("after the sessions: %s", got)
	}
	if n := len(s.Sessions()); n != 0 {
		t.Errorf("%d sessions", n)
	}
}

// W6.10: a subscription is named by the id of its request, to the letter.
func TestASubscriptionIsNamedAsItsRequest(t *testing.T) {
	s := watched(t, server.Options{})
	p := newRig(t, s).connect(mcp.Revision20260728, `{}`)
	streams := map[string]*stream{}
	for _, id := range []string{`7`, `"7"`, `"a b"`, `9007199254740993`, `""`} {
		body := `{"jsonrpc":"2.0","id":` + id + `,"method":"subscriptions/listen","params":` + p.enveloped(`{"notifications":{"toolsListChanged":true}}`) + `}`
		streams[id] = p.follow(p.post(body, mcp.MethodListen, ""))
	}
	check := func(id string, m message, object json.RawMessage) {
		t.Helper()
		var got struct {
			Meta map[string]json.RawMessage `json:"_meta"`
		}
		must(t, json.Unmarshal(object, &got))
		if name := string(got.Meta[mcp.MetaSubscriptionID]); name != id {
			t.Errorf("%s%s of %s names %s", m.Method, m.Result, id, name)
		}
	}
	for id, st := range streams {
		ack := st.next()
		check(id, ack, ack.Params)
	}
	must(t, s.AddTool(server.Tool{Name: "more"}, nothing))
	for id, st := range streams {
		notice := st.next()
		check(id, notice, notice.Params)
	}
	s.Close()
	for id, st := range streams {
		last := st.next()
		check(id, last, last.Result)
		if string(last.ID) != id {
			t.Errorf("the result of %s is for %s", id, last.ID)
		}
	}
}
