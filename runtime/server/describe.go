package server

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// implementation is serverInfo on the wire; members that a revision does not
// have are left empty for it.
type implementation struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Version     string `json:"version"`
	Description string `json:"description,omitempty"`
	WebsiteURL  string `json:"websiteUrl,omitempty"`
	Icons       []Icon `json:"icons,omitempty"`
}

// identity is the server's identity, encoded once per form.
type identity struct {
	plain, titled, full json.RawMessage
	// meta is the _meta member that results of 2026-07-28 carry (W3.4):
	// without icons, which may be large.
	meta json.RawMessage
}

func describe(info Info) identity {
	full := implementation{info.Name, info.Title, info.Version, info.Description, info.WebsiteURL, info.Icons}
	titled := implementation{Name: info.Name, Title: info.Title, Version: info.Version}
	plain := implementation{Name: info.Name, Version: info.Version}
	// Strings and slices of strings: encoding them cannot fail.
	var out identity
	out.full, _ = encode(full)
	out.titled, _ = encode(titled)
	out.plain, _ = encode(plain)
	out.meta, _ = encode(map[string]json.RawMessage{mcp.MetaServerInfo: out.titled})
	return out
}

func (i identity) of(p mcp.Profile) json.RawMessage {
	switch {
	case p.Icons:
		return i.full
	case p.Titles:
		return i.titled
	}
	return i.plain
}

// Bits of Server.seen.
const (
	seenTools = 1 << iota
	seenPrompts
	seenResources
	seenCompletions
)

// offers reports whether the server offers what a capability stands for.
func (s *Server) offers(c mcp.Capability) bool {
	seen := s.seen.Load()
	switch c {
	case mcp.CapTools:
		return s.opt.Offers.Tools || seen&seenTools != 0
	case mcp.CapPrompts:
		return s.opt.Offers.Prompts || seen&seenPrompts != 0
	case mcp.CapResources:
		return s.opt.Offers.Resources || seen&seenResources != 0
	case mcp.CapSubscribe:
		return !s.opt.Offers.NoSubscribe && s.offers(mcp.CapResources)
	case mcp.CapCompletions:
		return s.opt.Offers.Completions || seen&seenCompletions != 0
	case mcp.CapLogging:
		return !s.opt.Offers.NoLogging
	case mcp.CapTasks:
		return s.hasTasks()
	}
	return c == ""
}

func (s *Server) saw(bit uint32) { s.seen.Or(bit) }

type listing struct {
	ListChanged bool `json:"listChanged"`
}

type resourceListing struct {
	Subscribe   bool `json:"subscribe,omitempty"`
	ListChanged bool `json:"listChanged"`
}

type capabilities struct {
	Tools       *listing                   `json:"tools,omitempty"`
	Prompts     *listing                   `json:"prompts,omitempty"`
	Resources   *resourceListing           `json:"resources,omitempty"`
	Completions *struct{}                  `json:"completions,omitempty"`
	Logging     *struct{}                  `json:"logging,omitempty"`
	Tasks       json.RawMessage            `json:"tasks,omitempty"`
	Extensions  map[string]json.RawMessage `json:"extensions,omitempty"`
}

// capabilities says what the server offers in a revision; what it says and
// what it serves agree (W5.6).
func (s *Server) capabilities(x *dispatch.Exchange) capabilities {
	var c capabilities
	p := x.Profile()
	if s.offers(mcp.CapTools) {
		c.Tools = &listing{true}
	}
	if s.offers(mcp.CapPrompts) {
		c.Prompts = &listing{true}
	}
	if s.offers(mcp.CapResources) {
		c.Resources = &resourceListing{Subscribe: s.offers(mcp.CapSubscribe), ListChanged: true}
	}
	if m, _ := p.Method(mcp.MethodComplete); m.Needs != "" && s.offers(mcp.CapCompletions) {
		c.Completions = &struct{}{}
	}
	if s.offers(mcp.CapLogging) {
		c.Logging = &struct{}{}
	}
	c.Tasks = s.taskCapability(p, x.Principal())
	c.Extensions = s.opt.Extensions
	if m, ok := p.Method(mcp.MethodTasksGet); ok && m.Extension != "" && s.hasTasks() {
		c.Extensions = maps.Clone(c.Extensions)
		if c.Extensions == nil {
			c.Extensions = map[string]json.RawMessage{}
		}
		c.Extensions[m.Extension] = json.RawMessage(`{}`)
	}
	return c
}

type initializeResult struct {
	ProtocolVersion string          `json:"protocolVersion"`
	Capabilities    capabilities    `json:"capabilities"`
	ServerInfo      json.RawMessage `json:"serverInfo"`
	Instructions    string          `json:"instructions,omitempty"`
}

// Open implements dispatch.Server: initialize (W4.5). Instructions stand beside
// serverInfo, where the schema of every revision has them.
func (s *Server) Open(_ context.Context, x *dispatch.Exchange, session dispatch.Session) dispatch.Outcome {
	c := s.capabilities(x)
	o := s.encoded(encode(initializeResult{x.Revision(), c, s.identity.of(x.Profile()), s.info.Instructions}))
	if o.Err == nil { // otherwise nobody would tell of its end
		s.watchers.open(session, x.Identity(), &c)
		if s.opt.Opened != nil {
			s.fenced(func() { s.opt.Opened(session) })
		}
	}
	return o
}

type discoverResult struct {
	SupportedVersions []string                   `json:"supportedVersions"`
	Capabilities      capabilities               `json:"capabilities"`
	Instructions      string                     `json:"instructions,omitempty"`
	Meta              map[string]json.RawMessage `json:"_meta"`
}

// discover serves server/discover (W5.5): the one result that carries the whole
// identity, in _meta.
func (s *Server) discover(_ context.Context, x *dispatch.Exchange) dispatch.Outcome {
	raw, err := encode(discoverResult{
		SupportedVersions: x.Offer().Modern(),
		Capabilities:      s.capabilities(x),
		Instructions:      s.info.Instructions,
		Meta:              map[string]json.RawMessage{mcp.MetaServerInfo: s.identity.full},
	})
	return s.encoded(raw, err)
}

// encoded makes an outcome of what encode returned.
func (s *Server) encoded(raw []byte, err error) dispatch.Outcome {
	if err != nil {
		s.opt.Logger.Error("encoding a result", "error", err)
		return dispatch.Fail(internal())
	}
	return dispatch.Result(raw)
}

func internal() *jsonrpc.Error { return jsonrpc.Errorf(jsonrpc.CodeInternal, "internal error") }

func empty() dispatch.Outcome { return dispatch.Result([]byte(`{}`)) }

// text reads a string member of the parameters; "" when it is none.
func text(params []byte, name string) string {
	raw, _ := strictjson.Get(params, name)
	value, _ := strictjson.String(raw)
	return value
}
