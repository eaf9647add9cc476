package inspect

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Target is the server and how it is asked.
type Target struct {
	// URL is the MCP endpoint.
	URL string
	// Header is sent with every request.
	Header http.Header
	// Revision pins the protocol revision; empty: the newest in common.
	Revision string
	// Timeout bounds each request.
	Timeout time.Duration
}

// Connect makes a client of the server that asks each request once and answers
// no questions. The caller closes it.
func (t Target) Connect(ctx context.Context) (*client.Client, error) {
	return client.Connect(ctx, client.Options{
		Server:    client.HTTP{URL: t.URL, Header: t.Header},
		Name:      "mcp-sidecar",
		Version:   "1",
		Revision:  t.Revision,
		Timeout:   t.Timeout,
		Tasks:     true,
		Reconnect: client.Reconnect{Never: true},
		Retry:     client.Retry{Attempts: 1},
	})
}

// Report is what a server is and has. Lists hold the server's own bytes.
type Report struct {
	URL string `json:"url"`
	// Revision is the one that the lists were asked in.
	Revision string `json:"revision"`
	// Transport is how: "streamable" or "http+sse".
	Transport string `json:"transport"`
	Server    Server `json:"server"`
	// Modern are the revisions that it serves without sessions, Legacy those
	// with, each as tried out.
	Modern       []string        `json:"modern"`
	Legacy       []string        `json:"legacy"`
	Capabilities json.RawMessage `json:"capabilities"`
	// A list is nil when the server does not offer it.
	Tools     []json.RawMessage `json:"tools,omitempty"`
	Prompts   []json.RawMessage `json:"prompts,omitempty"`
	Resources []json.RawMessage `json:"resources,omitempty"`
	Templates []json.RawMessage `json:"resourceTemplates,omitempty"`
	// Problems are lists that could not be had.
	Problems []string `json:"problems,omitempty"`
}

// Server is who it says it is.
type Server struct {
	Name         string `json:"name"`
	Title        string `json:"title,omitempty"`
	Version      string `json:"version"`
	Instructions string `json:"instructions,omitempty"`
}

// Look asks the server for everything. An error means that there was no
// conversation at all; what fails later is among the problems.
func Look(ctx context.Context, t Target) (*Report, error) {
	c, err := t.Connect(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	s := c.Server()
	r := &Report{
		URL: t.URL, Revision: c.Revision(), Transport: c.Binding().String(),
		Server:       Server{Name: s.Name, Title: s.Title, Version: s.Version, Instructions: s.Instructions},
		Capabilities: s.Capabilities,
	}
	r.lists(ctx, c)
	r.revisions(ctx, t, c)
	return r, nil
}

// lists fills in what the server declares.
func (r *Report) lists(ctx context.Context, c *client.Client) {
	if c.Server().Has(mcp.CapTools) {
		for one, err := range c.Tools(ctx) {
			r.Tools = r.add(r.Tools, mcp.MethodToolsList, one.Raw, err)
		}
	}
	if c.Server().Has(mcp.CapPrompts) {
		for one, err := range c.Prompts(ctx) {
			r.Prompts = r.add(r.Prompts, mcp.MethodPromptsList, one.Raw, err)
		}
	}
	if c.Server().Has(mcp.CapResources) {
		for one, err := range c.Resources(ctx) {
			r.Resources = r.add(r.Resources, mcp.MethodResourcesList, one.Raw, err)
		}
		for one, err := range c.Templates(ctx) {
			r.Templates = r.add(r.Templates, mcp.MethodTemplatesList, one.Raw, err)
		}
	}
}

func (r *Report) add(list []json.RawMessage, method string, raw json.RawMessage, err error) []json.RawMessage {
	if err != nil {
		r.Problems = append(r.Problems, fmt.Sprintf("%s: %v", method, err))
		return list
	}
	return append(list, raw)
}

// revisions tries each: a server may answer in several, and what it lists is
// not always what it does.
func (r *Report) revisions(ctx context.Context, t Target, first *client.Client) {
	if !first.Profile().Handshake {
		r.Modern = supported(first.Server().Raw)
	}
	r.Legacy = []string{}
	if r.Modern == nil {
		r.Modern = []string{}
	}
	for _, revision := range mcp.Revisions() {
		profile, _ := mcp.Lookup(revision)
		switch {
		case revision == first.Revision() && profile.Handshake:
			r.Legacy = append(r.Legacy, revision)
			continue
		case !profile.Handshake:
			continue
		}
		one := t
		one.Revision = revision
		c, err := one.Connect(ctx)
		if err != nil {
			continue // that is the answer
		}
		if c.Revision() == revision {
			r.Legacy = append(r.Legacy, revision)
		}
		_ = c.Close()
	}
	if first.Profile().Handshake && t.Revision != "" { // it was asked to be
		for _, revision := range mcp.Modern() {
			one := t
			one.Revision = revision
			if c, err := one.Connect(ctx); err == nil {
				r.Modern = append(r.Modern, revision)
				_ = c.Close()
			}
		}
	}
	slices.Sort(r.Modern)
	slices.Sort(r.Legacy)
	slices.Reverse(r.Modern)
	slices.Reverse(r.Legacy)
}

// supported is what an answer to server/discover says of modern revisions.
func supported(raw []byte) (out []string) {
	list, _ := strictjson.Get(raw, "supportedVersions")
	strictjson.Elements(list, func(one []byte) bool {
		if text, ok := strictjson.String(one); ok && mcp.ClaimsModern(text) {
			out = append(out, text)
		}
		return true
	})
	return out
}
