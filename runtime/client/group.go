package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/internal/pause"
)

// Bounds of a Group that GroupOptions leave alone.
const (
	DefaultMembers        = 256
	DefaultConnectTimeout = 30 * time.Second
	DefaultParallel       = 8
)

// Member is one server of a Group.
type Member struct {
	// Name is unique in the Group and stands before tool names that several
	// members have; letters, digits, "_" and "-".
	Name string
	// Options are those of its Client.
	Options Options
	// Required: the Group does not come up without it. An optional member
	// that is not there is tried again, as its Reconnect says.
	Required bool
}

// GroupOptions describe a Group. Members are required.
type GroupOptions struct {
	// Members are at most DefaultMembers.
	Members []Member
	// Parallel bounds how many are connected, or asked, at the same time [8].
	Parallel int
	// ConnectTimeout bounds each first attempt [30 s].
	ConnectTimeout time.Duration
	// Separator stands between member and tool in a qualified name ["."].
	Separator string
	// Changed hears of each member's states, after the member's own Observer.
	// It must not block.
	Changed func(member string, ch Change)
}

// Group is a set of servers, one Client each, with the tools of all in one
// namespace. What happens to one member concerns no other. All methods may be
// called concurrently. Close ends it.
type Group struct {
	o       GroupOptions
	members []*seat
	byName  map[string]*seat
	stop    context.CancelCauseFunc
	ctx     context.Context
	wg      sync.WaitGroup

	mu    sync.Mutex
	names names
}

// MemberStatus is how a member is.
type MemberStatus struct {
	Name     string
	Required bool
	State    State
	// Err is why it is not connected; it may be nil.
	Err error
}

// MemberError is an error of one member.
type MemberError struct {
	Member string
	Err    error
}

// Error implements error.
func (e *MemberError) Error() string { return fmt.Sprintf("%s: %v", e.Member, e.Err) }

// Unwrap gives the cause.
func (e *MemberError) Unwrap() error { return e.Err }

// ErrNotConnected: the member has no connection now.
var ErrNotConnected = errors.New("client: not connected")

// seat is a member of a Group and its Client, when there is one.
type seat struct {
	Member
	group *Group

	mu     sync.Mutex
	client *Client
	state  State
	err    error
}

// ConnectGroup connects all members, some at a time, and returns when each has
// been tried once. It is an error when a required one is not there: a join of
// *MemberError, with everything closed again. ctx bounds the attempts only.
func ConnectGroup(ctx context.Context, o GroupOptions) (*Group, error) {
	if o.Parallel <= 0 {
		o.Parallel = DefaultParallel
	}
	fill(&o.ConnectTimeout, DefaultConnectTimeout)
	fill(&o.Separator, ".")
	g := &Group{o: o, byName: map[string]*seat{}}
	g.ctx, g.stop = context.WithCancelCause(context.Background())
	if err := g.enrol(o.Members); err != nil {
		g.stop(err)
		return nil, err
	}
	errs := g.each(func(_ int, m *seat) error {
		ctx, stop := context.WithTimeoutCause(ctx, g.o.ConnectTimeout, ErrTimeout)
		defer stop()
		return m.connect(ctx)
	})
	var missing []error
	for i, m := range g.members {
		switch {
		case errs[i] == nil:
		case m.Required:
			missing = append(missing, &MemberError{m.Name, errs[i]})
		case !m.Options.Reconnect.Never:
			g.wg.Go(m.await)
		}
	}
	if len(missing) > 0 {
		_ = g.Close()
		return nil, errors.Join(missing...)
	}
	return g, nil
}

// enrol checks the members.
func (g *Group) enrol(list []Member) error {
	if len(list) == 0 || len(list) > DefaultMembers {
		return fmt.Errorf("client: a group has 1 to %d members, not %d", DefaultMembers, len(list))
	}
	for _, one := range list {
		if one.Name == "" || strings.Trim(one.Name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
			return fmt.Errorf("client: %q is no name of a member", one.Name)
		}
		if g.byName[one.Name] != nil {
			return fmt.Errorf("client: two members are called %q", one.Name)
		}
		m := &seat{Member: one, group: g}
		m.Options.fill()
		own := m.Options.Observer.State
		m.Options.Observer.State = func(ch Change) {
			if own != nil {
				own(ch)
			}
			m.changed(ch)
		}
		g.byName[one.Name] = m
		g.members = append(g.members, m)
	}
	return nil
}

// each runs f for all members, some at a time, and returns the errors in their
// order.
func (g *Group) each(f func(i int, m *seat) error) []error {
	errs := make([]error, len(g.members))
	var wg sync.WaitGroup
	turns := make(chan struct{}, g.o.Parallel)
	for i, m := range g.members {
		turns <- struct{}{}
		wg.Go(func() {
			defer func() { <-turns }()
			errs[i] = f(i, m)
		})
	}
	wg.Wait()
	return errs
}

func (m *seat) changed(ch Change) {
	m.mu.Lock()
	m.state, m.err = ch.State, ch.Err
	m.mu.Unlock()
	if f := m.group.o.Changed; f != nil {
		f(m.Name, ch)
	}
}

func (m *seat) connect(ctx context.Context) error {
	c, err := Connect(ctx, m.Options)
	m.mu.Lock()
	if err != nil {
		m.err = err
	}
	late := m.group.ctx.Err() != nil
	if !late {
		m.client = c
	}
	m.mu.Unlock()
	if late && c != nil {
		_ = c.Close()
	}
	return err
}

// await tries a member that was not there until it is.
func (m *seat) await() {
	g, policy := m.group, m.Options.Reconnect
	for attempt := 1; policy.Attempts < 0 || attempt <= policy.Attempts; attempt++ {
		if pause.For(g.ctx, backoff(policy.First, policy.Max, attempt)) != nil {
			return
		}
		ctx, stop := context.WithTimeoutCause(g.ctx, g.o.ConnectTimeout, ErrTimeout)
		err := m.connect(ctx)
		stop()
		if err == nil {
			return
		}
	}
}

func (m *seat) up() (*Client, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.client != nil:
		return m.client, nil
	case m.err != nil:
		return nil, fmt.Errorf("%w: %w", ErrNotConnected, m.err)
	}
	return nil, ErrNotConnected
}

// Status is how the members are, in their order.
func (g *Group) Status() []MemberStatus {
	out := make([]MemberStatus, 0, len(g.members))
	for _, m := range g.members {
		m.mu.Lock()
		out = append(out, MemberStatus{Name: m.Name, Required: m.Required, State: m.state, Err: m.err})
		m.mu.Unlock()
	}
	return out
}

// Member is a member's Client: for everything but tools. It is an error when
// there is no such member, or it was never connected.
func (g *Group) Member(name string) (*Client, error) {
	m := g.byName[name]
	if m == nil {
		return nil, fmt.Errorf("client: no member is called %q", name)
	}
	c, err := m.up()
	if err != nil {
		return nil, &MemberError{name, err}
	}
	return c, nil
}

// Close ends all members, at the same time.
func (g *Group) Close() error {
	g.stop(ErrClosed)
	g.wg.Wait()
	g.each(func(_ int, m *seat) error {
		if c, err := m.up(); err == nil {
			return c.Close()
		}
		return nil
	})
	return nil
}
