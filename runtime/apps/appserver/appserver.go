package appserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/fairlead-dev/fairlead/runtime/apps"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/server"
)

// Offer adds the extension to what a server offers; call it before server.New.
func Offer(o *server.Options) {
	extensions := maps.Clone(o.Extensions)
	if extensions == nil {
		extensions = map[string]json.RawMessage{}
	}
	extensions[apps.Extension] = json.RawMessage(`{}`)
	o.Extensions = extensions
}

// View describes a view. URI and Name are required.
type View struct {
	// URI begins with ui://, e.g. ui://weather/dashboard.
	URI, Name, Title, Description string
	// UI is what the view wants from its host.
	UI apps.View
	// Scopes must be granted to who reads it.
	Scopes []string
}

// HTML makes the document of a view. It is a template: the host gives it the
// results of tools.
type HTML func(c *server.Context) (string, error)

// Static is a document that is always the same.
func Static(document string) HTML {
	return func(*server.Context) (string, error) { return document, nil }
}

// AddView registers a view. Errors are those of Server.AddResource, apps.ErrURI
// and origins that are none.
func AddView(s *server.Server, v View, document HTML) error {
	if !apps.IsURI(v.URI) {
		return fmt.Errorf("view %q: %w", v.URI, apps.ErrURI)
	}
	meta, err := v.UI.Put(nil)
	if err != nil {
		return fmt.Errorf("view %q: %w", v.URI, err)
	}
	handler := func(c *server.Context, r server.ReadRequest) (server.ResourceOutcome, error) {
		text, err := document(c)
		if err != nil {
			return nil, err
		}
		contents := server.TextContents(v.URI, apps.MIMEType, text)
		contents.Meta = meta // a host reads it here; in lists it is for review
		return &server.ResourceResult{Contents: []server.Contents{contents}}, nil
	}
	return s.AddResource(server.Resource{
		URI: v.URI, Name: v.Name, Title: v.Title, Description: v.Description, MIMEType: apps.MIMEType,
		Meta: meta, Scopes: v.Scopes,
	}, handler)
}

// ErrNoView: a tool points to a view that the server does not have.
var ErrNoView = errors.New("there is no such view")

// Show returns t with its view, for Server.AddTool or server.AddTool. The view
// must be there already: a tool that points nowhere leaves a host with nothing
// to show. A tool that is not for the model exists only for clients that show
// views and can tell it from others.
func Show(s *server.Server, t server.Tool, ui apps.Tool) (server.Tool, error) {
	meta, err := ui.Put(t.Meta)
	if err != nil {
		return t, fmt.Errorf("tool %q: %w", t.Name, err)
	}
	if ui.ResourceURI != "" && !s.HasResource(ui.ResourceURI) {
		return t, fmt.Errorf("tool %q: %s: %w", t.Name, ui.ResourceURI, ErrNoView)
	}
	t.Meta = meta
	if !ui.For(apps.Model) {
		visible := t.Visible
		t.Visible = func(who server.Caller) bool { return shows(who) && (visible == nil || visible(who)) }
	}
	return t, nil
}

// shows tells whether a caller shows views. In revisions without _meta on tools
// a host could not tell an app's tool from a model's.
func shows(who server.Caller) bool {
	p, known := mcp.Lookup(who.Revision)
	return known && p.Titles && apps.Shown(who.ClientCapabilities)
}

// Shown tells a handler whether its client shows views, for those that answer
// differently then.
func Shown(c *server.Context) bool { return apps.Shown(c.ClientCapabilities()) }

// WithText gives every result of h something to read: where it has no text and
// no structured content, which the server repeats as text, the text is say's.
// Hosts without views show that, and models read it in all of them.
func WithText(h server.ToolHandler, say func(*server.ToolResult) string) server.ToolHandler {
	return func(c *server.Context, args json.RawMessage) (server.ToolOutcome, error) {
		out, err := h(c, args)
		result, ok := out.(*server.ToolResult)
		if err != nil || !ok || result == nil || readable(result) {
			return out, err
		}
		said := *result
		said.Content = append([]server.Content{server.Text(say(result))}, result.Content...)
		return &said, nil
	}
}

func readable(r *server.ToolResult) bool {
	if r.Structured != nil && len(r.Content) == 0 {
		return true
	}
	for _, c := range r.Content {
		if c.Type == "text" && c.String() != "" {
			return true
		}
	}
	return false
}
