package stdio

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/agent"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// program is what a fake child does with a message; it may write several lines.
type program func(c *child, m *jsonrpc.Message)

// polite answers initialize and everything else, and ends at the end of input.
func polite(c *child, m *jsonrpc.Message) {
	switch {
	case m.Method == "initialize":
		c.say(`{"jsonrpc":"2.0","id":` + m.ID.String() + `,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"` + fmt.Sprint(c.number) + `"}}}`)
	case m.Method == "hang":
	case m.Method == "die":
		c.end(agent.Exit{Code: 3, StderrTail: []string{"boom"}})
	case m.Kind == jsonrpc.KindRequest:
		c.say(`{"jsonrpc":"2.0","id":` + m.ID.String() + `,"result":{"n":` + fmt.Sprint(c.number) + `}}`)
	}
}

// child is a process in memory.
type child struct {
	number   int
	stdin    *io.PipeReader
	in       *io.PipeWriter
	out      *io.PipeReader
	stdout   *io.PipeWriter
	done     chan struct{}
	stopped  chan struct{}
	stopOnce sync.Once
	once     sync.Once
	exit     agent.Exit
	closed   bool
}

func (c *child) Stdin() io.WriteCloser { return c.in }
func (c *child) Stdout() io.ReadCloser { return c.out }
func (c *child) Done() <-chan struct{} { return c.done }
func (c *child) Exit() agent.Exit      { return c.exit }
func (c *child) Close()                { c.closed = true; c.end(agent.Exit{Code: -1, Signal: "KILL"}) }

// Stop is the agent's clock: five seconds after the input was closed it kills.
func (c *child) Stop() {
	_ = c.in.Close()
	c.stopOnce.Do(func() { close(c.stopped) })
}

func (c *child) say(line string) { _, _ = io.WriteString(c.stdout, line+"\n") }

func (c *child) end(e agent.Exit) {
	c.once.Do(func() {
		c.exit = e
		_ = c.stdin.Close()
		_ = c.stdout.Close()
		close(c.done)
	})
}

func (c *child) run(p program) {
	go func() {
		select {
		case <-c.stopped:
		case <-c.done:
			return
		}
		t := time.NewTimer(5 * time.Second)
		defer t.Stop()
		select {
		case <-t.C:
			c.end(agent.Exit{Code: -1, Signal: "KILL"})
		case <-c.done:
		}
	}()
	in := bufio.NewReader(c.stdin)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			c.end(agent.Exit{})
			return
		}
		if m, err := jsonrpc.Parse([]byte(line), strictjson.FromWorkload); err == nil {
			p(c, m)
		}
	}
}

// starter makes fake children.
type starter struct {
	mu       sync.Mutex
	program  program
	errs     []error // what the next starts answer; nil starts one
	always   error
	children []*child
	keys     map[string]bool
}

func (s *starter) Start(_ context.Context, key string) (Child, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keys[key] {
		panic("a key used twice")
	}
	s.keys[key] = true
	if len(s.errs) > 0 {
		err := s.errs[0]
		s.errs = s.errs[1:]
		if err != nil {
			return nil, err
		}
	}
	if s.always != nil {
		return nil, s.always
	}
	c := &child{number: len(s.children) + 1, done: make(chan struct{}), stopped: make(chan struct{})}
	c.stdin, c.in = io.Pipe()
	c.out, c.stdout = io.Pipe()
	s.children = append(s.children, c)
	go c.run(s.program)
	return c, nil
}

func (s *starter) child(i int) *child {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.children[i]
}

func (s *starter) begun() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.children)
}

func (s *starter) Check(context.Context) error { return s.always }

// rig is a pool of fake children in virtual time.
type rig struct {
	*Pool
	*starter
	t    *testing.T
	mu   sync.Mutex
	ends []End
	held []string
}

// bubble runs f with a workload that is known to be of the legacy era.
func bubble(t *testing.T, cfg Config, f func(t *testing.T, r *rig)) {
	t.Helper()
	cfg.Era = upstream.EraLegacy
	virtual(t, cfg, f)
}

// virtual runs f in virtual time.
func virtual(t *testing.T, cfg Config, f func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{t: t, starter: &starter{program: polite, keys: map[string]bool{}}}
		if cfg.MaxProcesses == 0 {
			cfg.MaxProcesses = 4
		}
		cfg.Starter = r.starter
		cfg.Hooks.Ended = func(why End, _ agent.Exit) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.ends = append(r.ends, why)
		}
		cfg.Hooks.Held = func(d time.Duration, ok bool) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.held = append(r.held, fmt.Sprint(d, " ", ok))
		}
		r.Pool = New(cfg)
		f(t, r)
		ctx, stop := context.WithTimeout(context.Background(), time.Second)
		defer stop()
		r.Shutdown(ctx)
		if n := r.Processes(); n != 0 {
			t.Errorf("%d processes left after Shutdown", n)
		}
		for _, c := range r.children {
			select {
			case <-c.done:
			default:
				t.Errorf("child %d still runs", c.number)
			}
			if !c.closed {
				t.Errorf("child %d was never given up", c.number)
			}
		}
		time.Sleep(time.Minute) // pauses of the link are over
	})
}

func (r *rig) wantEnds(want ...End) {
	r.t.Helper()
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if fmt.Sprint(r.ends) != fmt.Sprint(want) {
		r.t.Errorf("ends %v, want %v", r.ends, want)
	}
}

// session opens a leg and remembers how it ended.
type session struct {
	upstream.Leg
	listening atomic.Bool
	mu        sync.Mutex
	ended     []string
}

func (r *rig) open(ctx context.Context) (*session, error) {
	s := &session{}
	leg, err := r.OpenSession(ctx, upstream.SessionRequest{
		Params:    upstream.InitializeParams(upstream.Key{}),
		Listening: s.listening.Load,
		Ended: func(cause error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.ended = append(s.ended, cause.Error())
		},
	})
	s.Leg = leg
	return s, err
}

func (r *rig) mustOpen() *session {
	r.t.Helper()
	s, err := r.open(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

func (s *session) wantEnded(t *testing.T, want string) {
	t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if got := strings.Join(s.ended, "; "); got != want {
		t.Errorf("owner was told %q, want %q", got, want)
	}
}
