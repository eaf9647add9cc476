package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// fakes is a Target whose servers are a script, one link after the other.
type fakes struct {
	revision string // what the servers speak
	binding  mcp.Binding
	// caps are the capabilities that they declare.
	caps string
	// serve answers what the script does not by itself; on its own goroutine.
	serve func(f *fake, m *jsonrpc.Message)
	// refuse fails the n-th dial, from 1.
	refuse func(n int) error
	// turn fails to send a message.
	turn func(m *jsonrpc.Message) error

	mu    sync.Mutex
	links []*fake
	dials int
}

// fake is one link with the server behind it.
type fake struct {
	of     *fakes
	n      int
	recv   peer.Receiver
	mu     sync.Mutex
	log    []string
	ended  bool
	listen int
	wg     sync.WaitGroup
}

func (s *fakes) Binding() mcp.Binding { return s.binding }

func (s *fakes) Dial(context.Context, Wiring) (peer.Link, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dials++
	if s.refuse != nil {
		if err := s.refuse(s.dials); err != nil {
			return nil, err
		}
	}
	f := &fake{of: s, n: s.dials}
	s.links = append(s.links, f)
	return f, nil
}

// dialled counts attempts to connect.
func (s *fakes) dialled() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dials
}

// last is the newest link.
func (s *fakes) last() *fake {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.links[len(s.links)-1]
}

func (f *fake) Start(r peer.Receiver) { f.recv = r }
func (f *fake) Inline() bool          { return false }
func (f *fake) Wait()                 { f.wg.Wait() }
func (f *fake) Listen()               { f.mu.Lock(); f.listen++; f.mu.Unlock() }

func (f *fake) Close(error) { f.end(errors.New("closed")) }

// end ends the link as a server that goes away does.
func (f *fake) end(err error) {
	f.mu.Lock()
	over := f.ended
	f.ended = true
	f.mu.Unlock()
	if !over {
		f.recv.Ended(err)
	}
}

func (f *fake) Send(_ context.Context, out *peer.Outgoing) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended {
		return &peer.Failure{Reason: peer.Ended, NotDelivered: true}
	}
	m, err := jsonrpc.Parse(out.Raw, strictjson.FromClient)
	if err != nil {
		panic(fmt.Sprintf("the client sent %s: %v", out.Raw, err))
	}
	f.log = append(f.log, string(out.Raw))
	if f.of.turn != nil {
		if err := f.of.turn(m); err != nil {
			return err
		}
	}
	f.wg.Go(func() { f.handle(m) })
	return nil
}

func (f *fake) handle(m *jsonrpc.Message) {
	p, known := mcp.Lookup(f.of.revision)
	switch {
	case m.Kind != jsonrpc.KindRequest && m.Method != mcp.NotifyCancelled:
		return
	case !known: // the script is all
	case m.Method == mcp.MethodDiscover && !p.Handshake:
		f.result(m, `{"resultType":"complete","supportedVersions":["`+f.of.revision+`"],"capabilities":`+f.of.capabilities()+`,"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}`)
		return
	case m.Method == mcp.MethodDiscover:
		f.fail(m, -32601, "no such method", "")
		return
	case m.Method == mcp.MethodInitialize && p.Handshake:
		f.result(m, `{"protocolVersion":"`+f.of.revision+`","capabilities":`+f.of.capabilities()+`,"serverInfo":{"name":"s","version":"1"}}`)
		return
	}
	if f.of.serve != nil {
		f.of.serve(f, m)
	}
}

func (s *fakes) capabilities() string {
	if s.caps == "" {
		return "{}"
	}
	return s.caps
}

func (f *fake) say(raw string) { f.recv.Deliver([]byte(raw)) }

func (f *fake) result(m *jsonrpc.Message, result string) {
	if m.ID.IsZero() {
		return // a cancel
	}
	f.say(`{"jsonrpc":"2.0","id":` + m.ID.String() + `,"result":` + result + `}`)
}

func (f *fake) fail(m *jsonrpc.Message, code int, message, data string) {
	if data != "" {
		data = `,"data":` + data
	}
	f.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q%s}}`, m.ID, code, message, data))
}

// sent are the messages of one method that the client sent on this link.
func (f *fake) sent(method string) (out []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, raw := range f.log {
		if text([]byte(raw), "method") == method {
			out = append(out, raw)
		}
	}
	return out
}

// answers are the responses that the client sent on this link.
func (f *fake) answers() (out []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, raw := range f.log {
		if !strings.Contains(raw, `"method":`) {
			out = append(out, raw)
		}
	}
	return out
}

// bubble runs a test in virtual time with a Client on fakes.
func bubble(t *testing.T, s *fakes, o Options, f func(t *testing.T, c *Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o.Server = s
		c, err := Connect(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		f(t, c)
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		for _, l := range s.links {
			l.wg.Wait()
		}
	})
}

// modern and legacy are servers of the newest revision of each era.
func modern(serve func(f *fake, m *jsonrpc.Message)) *fakes {
	return &fakes{revision: mcp.Revision20260728, serve: serve}
}

func legacy(serve func(f *fake, m *jsonrpc.Message)) *fakes {
	return &fakes{revision: mcp.Revision20251125, serve: serve}
}

// states records what an Observer hears of states.
type states struct {
	mu  sync.Mutex
	all []string
}

func (s *states) heard(ch Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	line := ch.State.String() + " " + ch.Reason
	if ch.Attempt > 0 {
		line += fmt.Sprintf(" %d", ch.Attempt)
	}
	if ch.Wait > 0 {
		line += " after " + ch.Wait.Truncate(500*time.Millisecond).String()
	}
	s.all = append(s.all, line)
}

func (s *states) got() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.all, "; ")
}

// sleepFor lets virtual time pass, in milliseconds.
func sleepFor(ms int) { time.Sleep(time.Duration(ms) * time.Millisecond) }
