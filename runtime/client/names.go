package client

import (
	"context"
	"errors"
	"fmt"
)

// GroupTool is a tool of a member.
type GroupTool struct {
	Tool
	// Flat is its name in the Group: its own where no other member has that,
	// else qualified with the member's (W24.14).
	Flat string
	// Member is whose tool it is.
	Member string
}

// ErrAmbiguous: several members have a tool of that name; use a qualified one.
var ErrAmbiguous = errors.New("client: several members have this tool")

// ErrNoTool: no member that could be asked has a tool of that name.
var ErrNoTool = errors.New("client: no member has this tool")

// names is the flat namespace as of the last list.
type names struct {
	flat  map[string]place
	plain map[string]int // how many members have a tool of that name
}

// place is where a tool is.
type place struct {
	member *seat
	name   string
}

// Tools lists the tools of all members, in the order of the members and of
// their lists. Members that could not be asked are missing, and named in the
// error: a join of *MemberError that comes with what the others said.
func (g *Group) Tools(ctx context.Context) ([]GroupTool, error) {
	lists := make([][]Tool, len(g.members))
	errs := g.each(func(i int, m *seat) error {
		c, err := m.up()
		if err == nil {
			lists[i], err = c.ListTools(ctx)
		}
		if err != nil {
			return &MemberError{m.Name, err}
		}
		return nil
	})
	return g.flatten(lists), errors.Join(errs...)
}

// flatten makes the namespace: unique names stand, others are qualified. The
// outcome depends on the lists alone.
func (g *Group) flatten(lists [][]Tool) []GroupTool {
	n := names{flat: map[string]place{}, plain: map[string]int{}}
	for i := range g.members {
		seen := map[string]bool{}
		for _, t := range lists[i] {
			if !seen[t.Name] {
				seen[t.Name] = true
				n.plain[t.Name]++
			}
		}
	}
	var out []GroupTool
	// No qualified name takes the place of one that stands.
	taken := map[string]bool{}
	for name, count := range n.plain {
		taken[name] = count == 1
	}
	for i, m := range g.members {
		seen := map[string]bool{}
		for _, t := range lists[i] {
			if seen[t.Name] {
				continue // the server lists it twice
			}
			seen[t.Name] = true
			flat := t.Name
			if n.plain[t.Name] > 1 {
				for flat = g.qualified(m, t.Name); taken[flat]; {
					flat += "_"
				}
			}
			taken[flat] = true
			n.flat[flat] = place{m, t.Name}
			out = append(out, GroupTool{Tool: t, Flat: flat, Member: m.Name})
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.names = n
	return out
}

func (g *Group) qualified(m *seat, tool string) string { return m.Name + g.o.Separator + tool }

// CallTool calls a tool by its flat or its qualified name; see Client.CallTool.
// A name that is not known makes the lists be read again. Errors of the member
// are *MemberError; else ErrNoTool and ErrAmbiguous.
func (g *Group) CallTool(ctx context.Context, name string, arguments any, opts ...CallOption) (*ToolResult, error) {
	p, err := g.find(name)
	if errors.Is(err, ErrNoTool) {
		_, listErr := g.Tools(ctx)
		if p, err = g.find(name); err != nil {
			return nil, errors.Join(err, listErr)
		}
	}
	if err != nil {
		return nil, err
	}
	c, err := p.member.up()
	if err != nil {
		return nil, &MemberError{p.member.Name, err}
	}
	result, err := c.CallTool(ctx, p.name, arguments, opts...)
	if err != nil {
		return nil, &MemberError{p.member.Name, err}
	}
	return result, nil
}

// find looks a name up: as it is in the last list, else qualified.
func (g *Group) find(name string) (place, error) {
	g.mu.Lock()
	n := g.names
	g.mu.Unlock()
	if p, ok := n.flat[name]; ok {
		return p, nil
	}
	if n.plain[name] > 1 {
		return place{}, fmt.Errorf("%w: %q", ErrAmbiguous, name)
	}
	for _, p := range n.flat {
		if g.qualified(p.member, p.name) == name {
			return p, nil
		}
	}
	return place{}, fmt.Errorf("%w: %q", ErrNoTool, name)
}
