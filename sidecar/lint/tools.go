package lint

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/paramheader"
	"github.com/fairlead-dev/fairlead/runtime/schema"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

const (
	// fewTools is how many a model can be expected to tell apart.
	fewTools = 30
	// shortSummary is a description too short to say four things.
	shortSummary = 60
)

// legalName is what tool names should be (W24.5).
var legalName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)

// genericNames say nothing of what a tool is about.
var genericNames = []string{"search", "get", "list", "create", "update", "delete", "read", "write", "run", "query", "find", "fetch", "execute", "call", "do"}

func (k *checker) tools(ctx context.Context) {
	if !k.c.Server().Has(mcp.CapTools) {
		return
	}
	all := k.list(ctx, mcp.MethodToolsList, "tools")
	seen := map[string]bool{}
	hinted := false
	for _, raw := range all {
		name := text(raw, "name")
		place := "tool " + name
		if seen[name] {
			k.report(toolTwice, place, "is in the list twice")
		}
		seen[name] = true
		hinted = hinted || member(raw, "annotations") != nil
		k.toolWords(place, name, raw)
		k.schemas(place, raw)
	}
	if len(all) > 0 && !hinted && k.profile.ToolAnnotations {
		k.report(toolHints, "server", "no tool has annotations")
	}
	if len(all) > fewTools {
		k.report(toolCount, "server", "%d tools", len(all))
	}
	k.readers(ctx, all)
	k.toolErrors(ctx, all)
}

// toolWords judges what a model gets to read.
func (k *checker) toolWords(place, name string, raw []byte) {
	if !legalName.MatchString(name) {
		k.report(toolName, place, "%q is no name that every client takes", name)
	}
	if slices.Contains(genericNames, strings.ToLower(name)) {
		k.report(toolGeneric, place, "many servers have a %q", name)
	}
	description := strings.TrimSpace(text(raw, "description"))
	switch {
	case description == "":
		k.report(toolDescription, place, "has no description")
	case utf8.RuneCountInString(description) < shortSummary:
		k.report(toolSummary, place, "%q is too short to say what it does, when to use it, when not, and what comes back", description)
	}
	strictjson.Each(member(raw, "inputSchema", "properties"), func(param, property []byte) bool {
		if strictjson.IsObject(property) && text(property, "description") == "" && member(property, "$ref") == nil {
			k.report(toolParameter, place+", parameter "+string(param), "has no description")
		}
		return true
	})
}

// schemas judges what is checked by machines.
func (k *checker) schemas(place string, raw []byte) {
	in := member(raw, "inputSchema")
	switch {
	case !strictjson.IsObject(in):
		k.report(inputSchema, place, "has no inputSchema")
	case text(in, "type") != "object":
		k.report(inputSchema, place, "the root's type is %q, not object", text(in, "type"))
	default:
		if _, err := schema.Compile(in); err != nil {
			k.report(inputSchema, place, "%v", err)
		}
	}
	if _, err := paramheader.Parse(in); err != nil {
		k.report(paramHeader, place, "%v", err)
	}
	out := member(raw, "outputSchema")
	if out == nil {
		return
	}
	if _, err := schema.Compile(out); err != nil {
		k.report(outputSchema, place, "%v", err)
	} else if !k.profile.AnyOutput && text(out, "type") != "object" {
		k.report(outputSchema, place, "the root's type is %q, not object, which %s requires", text(out, "type"), k.profile.Revision)
	}
}

// readOnly: the tool says that it changes nothing. Nothing else is called.
func readOnly(tool []byte) bool { return string(member(tool, "annotations", "readOnlyHint")) == "true" }

// readers calls tools that only read and need nothing.
func (k *checker) readers(ctx context.Context, all []json.RawMessage) {
	calls := 0
	for _, raw := range all {
		if !readOnly(raw) || len(elements(raw, "inputSchema", "required")) > 0 {
			continue
		}
		name := text(raw, "name")
		place := "tool " + name
		if members(raw, "inputSchema", "properties") == 0 {
			k.report(toolAsResource, place, "only reads, and takes nothing")
		}
		if calls++; calls > maxCalls {
			return
		}
		r, err := k.c.CallTool(ctx, name, nil)
		out := member(raw, "outputSchema")
		if err != nil || r.IsError || out == nil {
			continue
		}
		s, err := schema.Compile(out)
		switch {
		case err != nil: // told already
		case r.Structured == nil:
			k.report(outputMatches, place, "has an outputSchema, and its result no structuredContent")
		default:
			if err := s.Validate(r.Structured); err != nil {
				k.report(outputMatches, place, "%v", err)
			}
		}
	}
}

// toolErrors gives tools that only read what does not fit.
func (k *checker) toolErrors(ctx context.Context, all []json.RawMessage) {
	calls := 0
	for _, raw := range all {
		required := elements(raw, "inputSchema", "required")
		if !readOnly(raw) || len(required) == 0 {
			continue
		}
		if calls++; calls > maxCalls {
			return
		}
		place := "tool " + text(raw, "name")
		missing := fmt.Sprintf("called without %s", required[0])
		r, err := k.c.CallTool(ctx, text(raw, "name"), nil)
		switch code, told := code(err); {
		case told && code == -32602 && k.profile.InputErrorsInResult:
			k.report(toolArguments, place, "%s: is a protocol error, which a model does not get to see; since 2025-11-25 it is a result with isError", missing)
		case told && code != -32602:
			k.report(toolArguments, place, "%s: %s", missing, words(err))
		case err == nil && !r.IsError:
			k.report(toolArguments, place, "%s: succeeds, though the schema requires it", missing)
		case err == nil && strings.TrimSpace(r.Text()) == "":
			k.report(toolArguments, place, "%s: isError without a word on what is wrong", missing)
		}
	}
}

// members counts the members of an object.
func members(object []byte, path ...string) (n int) {
	strictjson.Each(member(object, path...), func(_, _ []byte) bool { n++; return true })
	return n
}
