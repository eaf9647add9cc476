package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/paramheader"
	"github.com/fairlead-dev/fairlead/runtime/schema"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// TaskSupport says whether a tool runs as a task.
type TaskSupport string

// The kinds of task support (W24.15); the zero value is TaskForbidden.
const (
	TaskForbidden TaskSupport = "forbidden"
	TaskOptional  TaskSupport = "optional"
	TaskRequired  TaskSupport = "required"
)

// Tool describes a tool. Only the name is required.
type Tool struct {
	// Name is 1 to 1,024 bytes; other than A-Za-z0-9_-. or more than 128 of
	// them is legal but warned of (W24.5).
	Name, Title, Description string
	// InputSchema and OutputSchema are JSON Schemas. Nil is made of the types
	// of a typed tool, and any object of a raw one. They reach clients as
	// they are (W24.17); arguments and structured results are held against
	// them.
	InputSchema, OutputSchema json.RawMessage
	Annotations               *ToolAnnotations
	Icons                     []Icon
	Meta                      json.RawMessage
	TaskSupport               TaskSupport
	// TaskLater starts calls of 2026-07-28 as ordinary requests, so that
	// rounds of input come first (W36.9); the handler makes them tasks.
	TaskLater bool
	// Timeout bounds one call, input of the client included; 0 is no bound of
	// its own.
	Timeout time.Duration
	// Scopes must be granted to the caller.
	Scopes []string
	// Needs are client capabilities without which the tool cannot work: calls
	// that do not declare them are refused before anything runs (W5.10).
	Needs []mcp.Capability
	// Visible, when not nil, says who is shown the tool; to others it does
	// not exist.
	Visible func(Caller) bool
}

// ToolAnnotations are hints that no client may rely on (W24.16).
type ToolAnnotations struct {
	Title           string `json:"title,omitempty"`
	ReadOnlyHint    bool   `json:"readOnlyHint,omitempty"`
	DestructiveHint *bool  `json:"destructiveHint,omitempty"`
	IdempotentHint  bool   `json:"idempotentHint,omitempty"`
	OpenWorldHint   *bool  `json:"openWorldHint,omitempty"`
}

// ToolHandler works on one call. args is the raw object, validated against the
// input schema; `{}` when the client sent none (R7).
type ToolHandler func(c *Context, args json.RawMessage) (ToolOutcome, error)

type toolEntry struct {
	tool    Tool
	in, out *schema.Schema
	// typed: absent members take their defaults before they are validated.
	typed bool
	// tasks: there is an engine.
	tasks   bool
	handler ToolHandler
	forms   forms
}

func (t *toolEntry) visible() func(Caller) bool { return t.tool.Visible }

// AddTool registers a tool with a raw handler. Errors: ErrDuplicate, ErrName,
// a schema that does not compile or whose root is no object (W24.6). Clients
// that may see the tool are told of the change.
func (s *Server) AddTool(t Tool, h ToolHandler) error { return s.addTool(t, h, false) }

func (s *Server) addTool(t Tool, h ToolHandler, typed bool) error {
	if err := s.checkName(KindTool, t.Name); err != nil {
		return err
	}
	if t.InputSchema == nil {
		t.InputSchema = json.RawMessage(`{"type":"object"}`)
	}
	e := &toolEntry{tool: t, handler: h, typed: typed, tasks: s.hasTasks()}
	var err error
	if e.in, err = schema.Compile(t.InputSchema); err != nil {
		return fmt.Errorf("tool %q: input %w", t.Name, err)
	}
	if !e.in.Object() {
		return fmt.Errorf("tool %q: input schema: the root must have type object", t.Name)
	}
	if _, err := paramheader.Parse(t.InputSchema); err != nil { // W15.14
		return fmt.Errorf("tool %q: input schema: %w", t.Name, err)
	}
	if t.OutputSchema != nil {
		if e.out, err = schema.Compile(t.OutputSchema); err != nil {
			return fmt.Errorf("tool %q: output %w", t.Name, err)
		}
	}
	e.tool.InputSchema = strictjson.OneLine(t.InputSchema)
	if t.OutputSchema != nil {
		e.tool.OutputSchema = strictjson.OneLine(t.OutputSchema)
	}
	if err := e.forms.try(func(p mcp.Profile) ([]byte, error) { return e.encode(p) }); err != nil {
		return fmt.Errorf("tool %q: %w", t.Name, err)
	}
	if err := s.tools.add(t.Name, e); err != nil {
		return fmt.Errorf("tool %w", err)
	}
	s.saw(seenTools)
	s.watchers.changed(KindTool, t.Name, t.Visible)
	return nil
}

// RemoveTools takes tools out; names that are not there do not matter. Calls
// in work go on.
func (s *Server) RemoveTools(names ...string) {
	for _, e := range s.tools.remove(names...) {
		s.watchers.changed(KindTool, e.tool.Name, e.tool.Visible)
	}
}

// ParamSchema gives a tool's input schema; streamable.Server.ParamSchema takes
// it (W15.17).
func (s *Server) ParamSchema(tool string) (schema []byte, ok bool) {
	t := s.tools.get(tool)
	if t == nil {
		return nil, false
	}
	return t.tool.InputSchema, true
}

// maxName bounds names and URIs.
const maxName = 1024

// checkName refuses what cannot be a name and warns of what should not be one.
func (s *Server) checkName(kind Kind, name string) error {
	if name == "" || len(name) > maxName || !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return fmt.Errorf("%s %.80q: %w: 1 to %d bytes without control characters", kind, name, ErrName, maxName)
	}
	if kind == KindTool && !plainName(name) {
		s.opt.Logger.Warn("a tool's name should be 1 to 128 of A-Z, a-z, 0-9, '_', '-' and '.'", "name", name)
	}
	return nil
}

func plainName(name string) bool {
	return len(name) <= 128 && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_-.", r)
	})
}

// listedTool is a tool in a list.
type listedTool struct {
	Name         string           `json:"name"`
	Title        string           `json:"title,omitempty"`
	Description  string           `json:"description,omitempty"`
	InputSchema  json.RawMessage  `json:"inputSchema"`
	OutputSchema json.RawMessage  `json:"outputSchema,omitempty"`
	Annotations  *ToolAnnotations `json:"annotations,omitempty"`
	Execution    *execution       `json:"execution,omitempty"`
	Icons        []Icon           `json:"icons,omitempty"`
	Meta         json.RawMessage  `json:"_meta,omitempty"`
}

type execution struct {
	TaskSupport TaskSupport `json:"taskSupport"`
}

// encode shows the tool as a revision has it (W24.10).
func (t *toolEntry) encode(p mcp.Profile) ([]byte, error) {
	l := listedTool{Name: t.tool.Name, Description: t.tool.Description, InputSchema: t.tool.InputSchema}
	if p.ToolAnnotations {
		l.Annotations = t.tool.Annotations
	}
	if p.Titles {
		l.Title, l.Meta = t.tool.Title, t.tool.Meta
	}
	if t.structured(p) {
		l.OutputSchema = t.tool.OutputSchema
	}
	if p.Icons {
		l.Icons = t.tool.Icons
	}
	if m, ok := p.Method(mcp.MethodTasksGet); ok && m.Extension == "" && t.tasks && t.tool.TaskSupport != "" && t.tool.TaskSupport != TaskForbidden {
		l.Execution = &execution{t.tool.TaskSupport}
	}
	return encode(l)
}

// structured reports whether the tool's output schema exists in a revision:
// only 2026-07-28 has roots that are no object (W24.7).
func (t *toolEntry) structured(p mcp.Profile) bool {
	return t.out != nil && p.StructuredOutput && (p.AnyOutput || t.out.Object())
}

// forms keeps how an item looks in each revision, made when first asked for.
type forms struct {
	mu sync.Mutex
	by map[string][]byte
}

// try makes the newest form, so that what cannot be encoded is refused early.
func (f *forms) try(encode func(mcp.Profile) ([]byte, error)) error {
	p, _ := mcp.Lookup(mcp.Modern()[0])
	_, err := encode(p)
	return err
}

func (f *forms) of(p mcp.Profile, encode func(mcp.Profile) ([]byte, error)) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	if raw, ok := f.by[p.Revision]; ok {
		return raw
	}
	raw, err := encode(p)
	if err != nil {
		return nil // try has refused it
	}
	if f.by == nil {
		f.by = map[string][]byte{}
	}
	f.by[p.Revision] = raw
	return raw
}
