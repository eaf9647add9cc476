package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Resource describes a resource. URI and Name are required.
type Resource struct {
	URI, Name, Title, Description, MIMEType string
	// Size is in bytes, nil when it is not known.
	Size        *int64
	Annotations *Annotations
	Icons       []Icon
	Meta        json.RawMessage
	// Cache overrides the hint on what is read.
	Cache *Hint
	// Scopes must be granted to the caller.
	Scopes []string
	// Visible, when not nil, says who is shown the resource; to others it does
	// not exist.
	Visible func(Caller) bool
}

// ReadRequest is what is read: a URI, and the variables by which a template
// matched it.
type ReadRequest struct {
	URI  string
	Vars map[string]string
}

// ResourceOutcome is the closed set of what a read answers with:
// *ResourceResult and *InputRequired.
type ResourceOutcome interface{ resourceOutcome() }

// ResourceResult is what a resource holds. Contents without a URI get the one
// that was asked for.
type ResourceResult struct {
	Contents []Contents
	// Cache overrides the hint of this one read.
	Cache *Hint
	Meta  json.RawMessage
}

func (*ResourceResult) resourceOutcome() {}

// TextResource is a result of one text.
func TextResource(mimeType, text string) *ResourceResult {
	return &ResourceResult{Contents: []Contents{TextContents("", mimeType, text)}}
}

// BlobResource is a result of bytes.
func BlobResource(mimeType string, blob []byte) *ResourceResult {
	return &ResourceResult{Contents: []Contents{BlobContents("", mimeType, blob)}}
}

// ErrNotFound is what a read returns for a resource that does not exist. It
// becomes the code that the revision has for that (W26.5, W26.6); an empty
// result would not say it (W26.4).
var ErrNotFound = errors.New("resource not found")

// ResourceHandler reads a resource.
type ResourceHandler func(c *Context, r ReadRequest) (ResourceOutcome, error)

type resourceEntry struct {
	resource Resource
	handler  ResourceHandler
	forms    forms
}

func (e *resourceEntry) visible() func(Caller) bool { return e.resource.Visible }

// AddResource registers a resource. Errors are ErrDuplicate, ErrName, a URI
// that is not absolute, and descriptions that do not encode.
func (s *Server) AddResource(r Resource, h ResourceHandler) error {
	if err := s.checkName(KindResource, r.URI); err != nil {
		return err
	}
	if u, err := url.Parse(r.URI); err != nil || u.Scheme == "" {
		return fmt.Errorf("resource %q: %w: the URI must be absolute", r.URI, ErrName)
	}
	if r.Name == "" {
		r.Name = r.URI
	}
	e := &resourceEntry{resource: r, handler: h}
	if err := e.forms.try(e.encode); err != nil {
		return fmt.Errorf("resource %q: %w", r.URI, err)
	}
	if err := s.resources.add(r.URI, e); err != nil {
		return fmt.Errorf("resource %w", err)
	}
	s.saw(seenResources)
	s.watchers.changed(KindResource, r.URI, r.Visible)
	return nil
}

// RemoveResources takes resources out; URIs that are not there do not matter.
func (s *Server) RemoveResources(uris ...string) {
	for _, e := range s.resources.remove(uris...) {
		s.watchers.changed(KindResource, e.resource.URI, e.resource.Visible)
	}
}

// HasResource reports whether a URI can be read, as a resource or by a template,
// whoever may.
func (s *Server) HasResource(uri string) bool {
	if s.resources.get(uri) != nil {
		return true
	}
	return slices.ContainsFunc(s.templates.all(), func(it item[templateEntry]) bool {
		_, ok := it.value.parsed.Match(uri)
		return ok
	})
}

type listedResource struct {
	URI         string          `json:"uri,omitempty"`
	URITemplate string          `json:"uriTemplate,omitempty"`
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	MIMEType    string          `json:"mimeType,omitempty"`
	Size        *int64          `json:"size,omitempty"`
	Annotations *Annotations    `json:"annotations,omitempty"`
	Icons       []Icon          `json:"icons,omitempty"`
	Meta        json.RawMessage `json:"_meta,omitempty"`
}

// fit takes out what a revision does not have.
func (l listedResource) fit(p mcp.Profile) listedResource {
	if !p.Icons {
		l.Icons = nil
	}
	if !p.Titles {
		l.Title, l.Meta = "", nil
		if l.Annotations != nil {
			bare := *l.Annotations
			bare.LastModified = ""
			l.Annotations = &bare
		}
	}
	return l
}

func (e *resourceEntry) encode(p mcp.Profile) ([]byte, error) {
	r := e.resource
	return encode(listedResource{URI: r.URI, Name: r.Name, Title: r.Title, Description: r.Description, MIMEType: r.MIMEType,
		Size: r.Size, Annotations: r.Annotations, Icons: r.Icons, Meta: r.Meta}.fit(p))
}

func (s *Server) listResources(_ context.Context, x *dispatch.Exchange) dispatch.Outcome {
	return page(s, x, KindResource, "resources", &s.resources, (*resourceEntry).visible, func(e *resourceEntry) []byte {
		return e.forms.of(x.Profile(), e.encode)
	})
}

// readable is how a URI is read.
type readable struct {
	handler ResourceHandler
	vars    map[string]string
	scopes  []string
	cache   *Hint
}

// find tells how a caller reads a URI: a resource of that URI, else the most
// specific template that matches. nil: for this caller there is none.
func (s *Server) find(who Caller, uri string) *readable {
	if len(uri) > maxURI || climbs(uri) {
		return nil
	}
	if e := s.resources.get(uri); e != nil && s.sees(who, KindResource, uri, e.resource.Visible) {
		return &readable{handler: e.handler, scopes: e.resource.Scopes, cache: e.resource.Cache}
	}
	return s.match(who, uri)
}

// maxURI bounds what is matched against templates.
const maxURI = 8 << 10

// climbs reports whether a file URI leaves its folder by "..", however that is
// spelt (W26.10).
func climbs(uri string) bool {
	u, err := url.Parse(uri)
	if err != nil || !strings.EqualFold(u.Scheme, "file") {
		return false
	}
	for segment := range strings.FieldsFuncSeq(u.Path+"/"+u.Opaque, func(r rune) bool { return r == '/' || r == '\\' }) {
		if segment == ".." || strings.Contains(segment, "\x00") {
			return true
		}
	}
	return false
}

// readResource serves resources/read.
func (s *Server) readResource(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
	in := readIncoming(x.Msg.Params, "uri")
	uri, ok := strictjson.String(in.name)
	if u, err := url.Parse(uri); !ok || err != nil || u.Scheme == "" {
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "uri must be an absolute URI"))
	}
	r := s.find(callerOf(x), uri)
	if r == nil {
		return dispatch.Fail(notFound(x.Profile(), uri))
	}
	if missing := x.Identity().Missing(r.scopes...); len(missing) > 0 {
		return dispatch.Fail(lacking(x, r.scopes))
	}
	c := s.newContext(ctx, x)
	c.in = in
	return s.rounds(c, func() ([]byte, *InputRequired, error) {
		out, err := r.handler(c, ReadRequest{URI: uri, Vars: r.vars})
		if errors.Is(err, ErrNotFound) {
			return nil, nil, notFound(x.Profile(), uri)
		}
		if err != nil {
			return nil, nil, err
		}
		switch out := out.(type) {
		case *InputRequired:
			return nil, out, nil
		case *ResourceResult:
			if out != nil {
				raw, err := encodeRead(x, r, uri, out)
				return raw, nil, err
			}
		}
		return nil, nil, notFound(x.Profile(), uri)
	}, nil)
}

// notFound is the error of a revision for a resource that is not there (W26.5,
// W26.6).
func notFound(p mcp.Profile, uri string) *jsonrpc.Error {
	code := int64(mcp.CodeResourceNotFound)
	if p.StrictErrors {
		code = jsonrpc.CodeInvalidParams
	}
	e := jsonrpc.Errorf(code, "resource not found")
	e.Data = append(strictjson.Quote([]byte(`{"uri":`), uri), '}')
	return e
}

type readResult struct {
	Contents []Contents      `json:"contents"`
	TTL      *int64          `json:"ttlMs,omitempty"`
	Scope    Scope           `json:"cacheScope,omitempty"`
	Meta     json.RawMessage `json:"_meta,omitempty"`
}

func encodeRead(x *dispatch.Exchange, r *readable, uri string, out *ResourceResult) ([]byte, error) {
	w := readResult{Meta: out.Meta, Contents: make([]Contents, len(out.Contents))}
	for i, c := range out.Contents {
		if c.URI == "" {
			c.URI = uri
		}
		if !x.Profile().Titles {
			c.Meta = nil
		}
		w.Contents[i] = c
	}
	hint := out.Cache
	if hint == nil {
		hint = r.cache
	}
	if hint != nil && x.Profile().CachingHints && !onInput(x) {
		ttl := max(0, hint.TTL.Milliseconds())
		w.TTL, w.Scope = &ttl, Private
		if hint.Scope == Public {
			w.Scope = Public
		}
	}
	return encode(w)
}
