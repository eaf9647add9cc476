package lint

import (
	"context"
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/client"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/uritemplate"
)

// manyResources of one kind ask for a template.
const manyResources = 10

// nowhere is a resource, tool and method that no server has.
const nowhere = "fairlead-lint-nothing-has-this-name"

func (k *checker) prompts(ctx context.Context) {
	if !k.c.Server().Has(mcp.CapPrompts) {
		return
	}
	calls := 0
	for _, raw := range k.list(ctx, mcp.MethodPromptsList, "prompts") {
		name := text(raw, "name")
		place := "prompt " + name
		needs := false
		for _, a := range elements(raw, "arguments") {
			needs = needs || string(member(a, "required")) == "true"
			if text(a, "description") == "" {
				k.report(promptArgument, place+", argument "+text(a, "name"), "has no description")
			}
		}
		if needs {
			continue
		}
		if calls++; calls > maxCalls {
			continue
		}
		p, err := k.c.GetPrompt(ctx, name, nil)
		switch {
		case err != nil:
			// Others may be about what this client cannot do.
			if got, _ := code(err); got == -32602 || got == -32603 {
				k.report(promptMessages, place, "without arguments, of which it requires none: %s", words(err))
			}
		case len(p.Messages) == 0:
			k.report(promptMessages, place, "gives no messages")
		}
	}
}

func (k *checker) resources(ctx context.Context) {
	if !k.c.Server().Has(mcp.CapResources) {
		return
	}
	all := k.list(ctx, mcp.MethodResourcesList, "resources")
	kinds := map[string]int{}
	untyped := 0
	for _, raw := range all {
		uri := text(raw, "uri")
		if i := strings.LastIndex(uri, "/"); i > 0 {
			kinds[uri[:i]]++
		}
		if text(raw, "mimeType") == "" {
			untyped++
		}
	}
	if untyped > 0 {
		k.report(resourceType, "resources", "%d of %d have no mimeType", untyped, len(all))
	}
	templates := k.list(ctx, mcp.MethodTemplatesList, "resourceTemplates")
	for _, raw := range templates {
		if _, err := uritemplate.Parse(text(raw, "uriTemplate")); err != nil {
			k.report(resourceTemplate, "template "+label(raw), "%v", err)
		}
	}
	if len(templates) == 0 {
		for prefix, n := range kinds {
			if n >= manyResources {
				k.report(resourceMany, prefix, "%d resources, and no template", n)
			}
		}
	}
	k.missing(ctx)
}

// missing reads what is not there (W26.5, W26.6).
func (k *checker) missing(ctx context.Context) {
	uri := nowhere + "://here/1"
	r, err := k.c.ReadResource(ctx, uri)
	wants := int64(-32602)
	if k.profile.Handshake {
		wants = mcp.CodeResourceNotFound
	}
	switch got, told := code(err); {
	case err == nil && len(r.Contents) == 0:
		k.report(resourceMissing, "resource "+uri, "is read as empty contents, which says neither that it is empty nor that it is missing")
	case err == nil:
		k.report(resourceMissing, "resource "+uri, "is read, though there is none")
	case told && got != wants && (got != -32602 || !k.profile.Handshake):
		k.report(resourceMissing, "resource "+uri, "%s; want %d", words(err), wants)
	}
}

// errors asks for tools and methods that are not there.
func (k *checker) errors(ctx context.Context) {
	if k.c.Server().Has(mcp.CapTools) {
		_, err := k.c.CallTool(ctx, nowhere, map[string]any{})
		switch got, told := code(err); {
		case err == nil:
			k.report(toolUnknown, "tool "+nowhere, "is answered with a result, not an error")
		case told && got != -32602:
			k.report(toolUnknown, "tool "+nowhere, "%s; want -32602", words(err))
		}
	}
	_, err := k.c.Call(ctx, "fairlead-lint/"+nowhere, nil)
	switch got, told := code(err); {
	case err == nil:
		k.report(methodUnknown, "method", "is answered with a result, not an error")
	case told && got != -32601:
		k.report(methodUnknown, "method", "%s; want -32601", words(err))
	}
}

func code(err error) (int64, bool) { return client.ErrorCode(err) }
