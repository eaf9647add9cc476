package lint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/fairlead-dev/fairlead/runtime/client"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/sidecar/inspect"
)

// Bounds of a check.
const (
	// maxPages is how many pages of one list are read.
	maxPages = 200
	// maxCalls is how many tools, and prompts, are called.
	maxCalls = 8
	// maxFindings bounds what one rule finds; the rest is counted.
	maxFindings = 50
)

// Run checks the server. It returns what it found, failures first; an error
// means that there was no conversation to judge.
func Run(ctx context.Context, t inspect.Target) ([]Finding, error) {
	c, err := t.Connect(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	k := &checker{target: t, c: c, profile: c.Profile(), count: map[string]int{}}
	k.identity()
	k.tools(ctx)
	k.prompts(ctx)
	k.resources(ctx)
	k.errors(ctx)
	k.wire(ctx)
	return k.sorted(), context.Cause(ctx)
}

// Failed reports whether a failure is among them.
func Failed(all []Finding) bool {
	for _, f := range all {
		if f.Level == Failure {
			return true
		}
	}
	return false
}

// checker collects what is found about one server.
type checker struct {
	target  inspect.Target
	c       *client.Client
	profile mcp.Profile
	found   []Finding
	count   map[string]int
}

// report notes a finding.
func (k *checker) report(r Rule, place, format string, args ...any) {
	k.count[r.ID]++
	if k.count[r.ID] > maxFindings {
		return
	}
	k.found = append(k.found, Finding{Rule: r.ID, Level: r.Level, Place: place, Message: fmt.Sprintf(format, args...)})
}

// sorted are the findings, the worst first, otherwise as they came.
func (k *checker) sorted() (out []Finding) {
	for _, level := range []Level{Failure, Warning, Note} {
		for _, f := range k.found {
			if f.Level == level {
				out = append(out, f)
			}
		}
	}
	for _, r := range Rules() {
		if more := k.count[r.ID] - maxFindings; more > 0 {
			out = append(out, Finding{Rule: r.ID, Level: r.Level, Place: "server", Message: fmt.Sprintf("%d more of these", more)})
		}
	}
	return out
}

func (k *checker) identity() {
	if s := k.c.Server(); s.Name == "" || s.Version == "" {
		k.report(serverIdentity, "server", "name %q, version %q", s.Name, s.Version)
	}
}

// list reads a list page by page: twice on this connection, and once on another
// (nothing may vary per connection). It returns the items.
func (k *checker) list(ctx context.Context, method, member string) []json.RawMessage {
	items, pages := k.pages(ctx, k.c, method, member)
	if pages == nil {
		return items
	}
	if again, more := k.pages(ctx, k.c, method, member); more != nil && !same(items, again) {
		k.report(listOrder, method, "asked again at once: %s", difference(items, again))
	}
	if other, err := k.target.Connect(ctx); err == nil {
		defer other.Close()
		if there, more := k.pages(ctx, other, method, member); more != nil && !same(items, there) {
			k.report(listOrder, method, "asked on another connection: %s", difference(items, there))
		}
	}
	k.hints(ctx, method, member, pages, items)
	return items
}

// pages reads all pages; nil when the first could not be had.
func (k *checker) pages(ctx context.Context, c *client.Client, method, member string) (items, pages []json.RawMessage) {
	var params any
	seen := map[string]bool{}
	for range maxPages {
		page, err := c.Call(ctx, method, params)
		if err != nil {
			k.report(listPages, method, "page %d: %s", len(pages)+1, words(err))
			return items, pages
		}
		pages = append(pages, page)
		var p struct{ NextCursor *string }
		if err := json.Unmarshal(page, &p); err != nil {
			k.report(listPages, method, "page %d: nextCursor is no string", len(pages))
			return items, pages
		}
		items = append(items, elements(page, member)...)
		if p.NextCursor == nil || *p.NextCursor == "" && k.profile.Handshake {
			return items, pages
		}
		if seen[*p.NextCursor] {
			k.report(listPages, method, "the cursor of page %d was there before: a client that follows it never ends", len(pages))
			return items, pages
		}
		seen[*p.NextCursor] = true
		params = map[string]string{"cursor": *p.NextCursor}
	}
	k.report(listPages, method, "more than %d pages", maxPages)
	return items, pages
}

func same(a, b []json.RawMessage) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !bytes.Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

// difference tells where two lists part.
func difference(a, b []json.RawMessage) string {
	if len(a) != len(b) {
		return fmt.Sprintf("%d entries became %d", len(a), len(b))
	}
	for i := range a {
		if !bytes.Equal(a[i], b[i]) {
			return fmt.Sprintf("entry %d was %q and is %q", i+1, label(a[i]), label(b[i]))
		}
	}
	return "nothing differs"
}

// words are an error for a finding.
func words(err error) string {
	if rpc, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return fmt.Sprintf("error %d: %s", rpc.Code, rpc.Message)
	}
	return err.Error()
}
