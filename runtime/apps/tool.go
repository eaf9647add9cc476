package apps

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Audience is who may see and call a tool.
type Audience string

// The audiences.
const (
	Model Audience = "model" // the agent
	App   Audience = "app"   // a view of the same server
)

// Tool is _meta.ui of a tool.
type Tool struct {
	// ResourceURI is the view of the tool's results; empty for none.
	ResourceURI string `json:"resourceUri,omitempty"`
	// Visibility is who may call the tool; empty means both.
	Visibility []Audience `json:"visibility,omitempty"`
}

// oldURI is how tools pointed to their view before the extension was settled.
const oldURI = "ui/resourceUri"

// ToolOf reads a tool's raw _meta; ok is false when it says nothing about views.
// What is of the wrong type counts as absent, except a visibility: one that
// cannot be read is nobody's, because showing a tool to the wrong side is worse
// than to neither.
func ToolOf(meta []byte) (t Tool, ok bool) {
	ui, has := strictjson.Get(meta, "ui")
	if has && strictjson.IsObject(ui) {
		ok = true
		t.ResourceURI = text(ui, "resourceUri")
		if raw, has := strictjson.Get(ui, "visibility"); has && !strictjson.IsNull(raw) {
			t.Visibility = []Audience{}
			strictjson.Elements(raw, func(item []byte) bool {
				one, _ := strictjson.String(item)
				t.Visibility = append(t.Visibility, Audience(one))
				return len(t.Visibility) < 8
			})
		}
	}
	if old := text(meta, oldURI); t.ResourceURI == "" && old != "" {
		t.ResourceURI, ok = old, true
	}
	return t, ok
}

// For tells whether the tool is visible to an audience: both, unless it says.
func (t Tool) For(who Audience) bool {
	return t.Visibility == nil || slices.Contains(t.Visibility, who)
}

// Errors of Put.
var (
	ErrURI        = errors.New("apps: a view's address begins with ui:// and has a name")
	ErrVisibility = errors.New("apps: a tool is for the model, the app, or both")
)

// Put writes t into a tool's _meta and leaves the rest of it as it is. meta may
// be nil.
func (t Tool) Put(meta json.RawMessage) (json.RawMessage, error) {
	if t.ResourceURI != "" && !IsURI(t.ResourceURI) {
		return nil, ErrURI
	}
	if t.Visibility != nil && len(t.Visibility) == 0 {
		return nil, ErrVisibility
	}
	for _, who := range t.Visibility {
		if who != Model && who != App {
			return nil, ErrVisibility
		}
	}
	return put(meta, t)
}

// IsURI tells whether an address is that of a view.
func IsURI(uri string) bool {
	rest, ok := strings.CutPrefix(uri, Scheme)
	return ok && rest != "" && rest[0] != '/' && !strings.ContainsFunc(uri, func(r rune) bool { return r <= ' ' || r == 0x7f })
}

func put(meta json.RawMessage, ui any) (json.RawMessage, error) {
	value, err := json.Marshal(ui)
	if err != nil {
		return nil, fmt.Errorf("apps: %w", err)
	}
	if len(meta) == 0 || strictjson.IsNull(meta) {
		meta = json.RawMessage(`{}`)
	}
	out, err := strictjson.Splice(meta, strictjson.Set(value, "ui"))
	if err != nil {
		return nil, fmt.Errorf("apps: _meta: %w", err)
	}
	return out, nil
}

// ForModel takes from a list of raw tools those that an agent may see; a host
// must hide the others from it. Tools of servers that know nothing of views are
// all for the model.
func ForModel(tools []json.RawMessage) []json.RawMessage {
	return slices.DeleteFunc(slices.Clone(tools), func(tool json.RawMessage) bool { return !MayCall(tool, Model) })
}

// MayCall tells whether an audience may call a raw tool. That an app calls tools
// of its own server only is for the host to see to.
func MayCall(tool json.RawMessage, who Audience) bool {
	meta, _ := strictjson.Get(tool, "_meta")
	t, _ := ToolOf(meta)
	return t.For(who)
}

// Dangling returns the tools, by name, whose view is not among the addresses
// that exist. resources are those that a server lists or that reading found:
// views may be left out of lists.
func Dangling(tools []json.RawMessage, exists func(uri string) bool) []string {
	var names []string
	for _, tool := range tools {
		meta, _ := strictjson.Get(tool, "_meta")
		if t, ok := ToolOf(meta); ok && t.ResourceURI != "" && !exists(t.ResourceURI) {
			names = append(names, text(tool, "name"))
		}
	}
	return names
}

func text(object []byte, name string) string {
	value, _ := strictjson.Get(object, name)
	out, _ := strictjson.String(value)
	return out
}
