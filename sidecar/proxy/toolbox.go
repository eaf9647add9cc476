package proxy

import (
	"context"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/paramheader"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Bounds of what is remembered of tools.
const (
	maxToolSets  = 256    // callers; the longest unused one is forgotten
	maxKnown     = 10_000 // tools of one caller
	maxToolPages = 1000   // R2
	// refreshEvery spaces lists that are asked for because a name is unknown
	// (P25): clients choose names.
	refreshEvery = 10 * time.Second
)

// tool is what has to be known of a tool to call it.
type tool struct {
	// schema is the inputSchema, kept only with annotations.
	schema []byte
	// params are its annotations; nil without, or if they are invalid (B5.9).
	params paramheader.Params
	// wrapped: the outputSchema's root is no object (B14.3).
	wrapped bool
	// needs are client capabilities that a call cannot do without (B7.15).
	needs []mcp.Capability
	// support says whether it runs as a task of 2025-11-25.
	support taskSupport
	// asksFirst: as a task it asks before the long work begins (W36.9).
	asksFirst bool
}

// taskSupport is what a tool of 2025-11-25 says of running as a task; anything
// else is forbidden.
type taskSupport string

const (
	supportRequired taskSupport = "required"
	supportOptional taskSupport = "optional"
)

// maxNeeds bounds them.
const maxNeeds = 8

// toolbox remembers the tools that each caller was shown. The zero value is
// ready. All methods may be called concurrently.
type toolbox struct {
	mu   sync.Mutex
	sets map[string]*toolset // by principal
}

type toolset struct {
	tools map[string]tool
	asked time.Time // when the whole list was asked for last
	stale bool      // the list has changed since
	used  time.Time
	turn  chan struct{} // cap 1: held while the list is asked for
}

// set is the caller's; mu is held.
func (b *toolbox) set(principal string) *toolset {
	s := b.sets[principal]
	if s == nil {
		if b.sets == nil {
			b.sets = map[string]*toolset{}
		}
		if len(b.sets) >= maxToolSets {
			b.evict()
		}
		s = &toolset{tools: map[string]tool{}, turn: make(chan struct{}, 1)}
		b.sets[principal] = s
	}
	s.used = time.Now()
	return s
}

func (b *toolbox) evict() {
	var victim string
	var oldest *toolset
	for who, s := range b.sets {
		if oldest == nil || s.used.Before(oldest.used) {
			victim, oldest = who, s
		}
	}
	delete(b.sets, victim)
}

// learn takes the tools of a page of tools/list, as the workload gave it.
func (b *toolbox) learn(principal string, page []byte) {
	tools, _ := strictjson.Get(page, "tools")
	found := map[string]tool{}
	strictjson.Elements(tools, func(item []byte) bool {
		raw, _ := strictjson.Get(item, "name")
		if name, ok := strictjson.String(raw); ok {
			found[name] = readTool(item)
		}
		return len(found) < maxKnown
	})
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.set(principal)
	for name, t := range found {
		if _, known := s.tools[name]; known || len(s.tools) < maxKnown {
			s.tools[name] = t
		}
	}
}

func readTool(item []byte) (t tool) {
	schema, _ := strictjson.Get(item, "inputSchema")
	if params, err := paramheader.Parse(schema); err == nil && params != nil {
		t.params, t.schema = params, append([]byte(nil), schema...)
	}
	if output, ok := strictjson.Get(item, "outputSchema"); ok && strictjson.IsObject(output) {
		kind, _ := strictjson.Get(output, "type")
		t.wrapped = string(kind) != `"object"`
	}
	support, _ := strictjson.GetPath(item, "execution", "taskSupport")
	text, _ := strictjson.String(support)
	t.support = taskSupport(text)
	first, _ := strictjson.GetPath(item, "_meta", mcp.MetaAsksFirst)
	t.asksFirst = string(first) == "true"
	needs, _ := strictjson.GetPath(item, "_meta", mcp.MetaNeeds)
	strictjson.Elements(needs, func(one []byte) bool {
		if c, ok := strictjson.String(one); ok && c != "" {
			t.needs = append(t.needs, mcp.Capability(c))
		}
		return len(t.needs) < maxNeeds
	})
	return t
}

// find is what is known of a tool.
func (b *toolbox) find(principal, name string) (tool, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.sets[principal]
	if s == nil || s.stale {
		return tool{}, false
	}
	t, ok := s.tools[name]
	return t, ok
}

// schema is the inputSchema of a tool if that has annotations, whoever was
// shown it: the front enforces them before it is known who asks. known is false
// for a tool that nobody was shown.
func (b *toolbox) schema(name string) (schema []byte, known bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.sets {
		if t, ok := s.tools[name]; ok && !s.stale {
			if known = true; t.schema != nil {
				return t.schema, true
			}
		}
	}
	return nil, known
}

// needs are what a tool cannot do without, whoever was shown it.
func (b *toolbox) needs(name string) []mcp.Capability {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.sets {
		if t, ok := s.tools[name]; ok && !s.stale {
			return t.needs
		}
	}
	return nil
}

// forget drops what is known of a tool: the workload behaves as if it were
// otherwise.
func (b *toolbox) forget(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.sets {
		delete(s.tools, name)
	}
}

// changed notes that the workload's list has changed: what is known counts no
// more.
func (b *toolbox) changed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.sets {
		s.stale, s.asked = true, time.Time{}
	}
}

// refresh asks for the whole list, one caller of a set at a time and, unless
// fresh, not more often than refreshEvery. It reports whether there is
// something new to be found.
func (b *toolbox) refresh(ctx context.Context, principal string, fresh bool, list func(context.Context, func([]byte)) bool) bool {
	b.mu.Lock()
	s := b.set(principal)
	b.mu.Unlock()
	began := time.Now()
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return false
	}
	b.mu.Lock()
	asked := s.asked
	due := fresh && asked.Before(began) || !fresh && time.Since(asked) >= refreshEvery
	if due {
		s.asked = time.Now()
	}
	b.mu.Unlock()
	if !due {
		return asked.After(began) // somebody else has just asked
	}
	next := toolbox{}
	if !list(ctx, func(page []byte) { next.learn(principal, page) }) {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	s.tools, s.stale = map[string]tool{}, false
	if n := next.sets[principal]; n != nil {
		s.tools = n.tools
	}
	return true
}
