package inspect

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/toolcall"
)

// maxSummary bounds a description in the text; JSON has all of it.
const maxSummary = 100

// Text writes the report for a person.
func (r *Report) Text(w io.Writer) error {
	p := &printer{w: w}
	name := strings.TrimSpace(r.Server.Name + " " + r.Server.Version)
	if r.Server.Title != "" {
		name += " (" + r.Server.Title + ")"
	}
	p.line("%s", name)
	p.line("  URL           %s, asked in %s over %s", r.URL, r.Revision, r.Transport)
	p.line("  Revisions     %s", r.eras())
	p.line("  Capabilities  %s", r.Capabilities)
	if r.Server.Instructions != "" {
		p.line("  Instructions  %s", summary(r.Server.Instructions))
	}
	p.tools(r.Tools)
	p.prompts(r.Prompts)
	p.named("Resources", "uri", r.Resources)
	p.named("Resource templates", "uriTemplate", r.Templates)
	for _, problem := range r.Problems {
		p.line("\nNot to be had: %s", problem)
	}
	return p.err
}

func (r *Report) eras() string {
	var out []string
	if len(r.Modern) > 0 {
		out = append(out, strings.Join(r.Modern, ", ")+" (stateless)")
	}
	if len(r.Legacy) > 0 {
		out = append(out, strings.Join(r.Legacy, ", ")+" (sessions)")
	}
	return strings.Join(out, "; ")
}

type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.w, toolcall.Printable(fmt.Sprintf(format, args...)))
	}
}

func (p *printer) tools(all []json.RawMessage) {
	if all == nil {
		return
	}
	p.line("\nTools: %d", len(all))
	for _, raw := range all {
		p.line("  %s(%s)", text(raw, "name"), arguments(raw))
		p.summary(raw)
	}
}

// arguments are a tool's, those that may be left out with a question mark.
func arguments(tool []byte) string {
	schema, _ := strictjson.Get(tool, "inputSchema")
	required := map[string]bool{}
	list, _ := strictjson.Get(schema, "required")
	strictjson.Elements(list, func(one []byte) bool {
		name, _ := strictjson.String(one)
		required[name] = true
		return true
	})
	var out []string
	properties, _ := strictjson.Get(schema, "properties")
	strictjson.Each(properties, func(raw, property []byte) bool {
		name := string(raw)
		one := name
		if !required[name] {
			one += "?"
		}
		if kind := text(property, "type"); kind != "" {
			one += " " + kind
		}
		out = append(out, one)
		return true
	})
	return strings.Join(out, ", ")
}

func (p *printer) prompts(all []json.RawMessage) {
	if all == nil {
		return
	}
	p.line("\nPrompts: %d", len(all))
	for _, raw := range all {
		var names []string
		list, _ := strictjson.Get(raw, "arguments")
		strictjson.Elements(list, func(one []byte) bool {
			name := text(one, "name")
			if need, _ := strictjson.Get(one, "required"); string(need) != "true" {
				name += "?"
			}
			names = append(names, name)
			return true
		})
		p.line("  %s(%s)", text(raw, "name"), strings.Join(names, ", "))
		p.summary(raw)
	}
}

func (p *printer) named(what, key string, all []json.RawMessage) {
	if all == nil {
		return
	}
	p.line("\n%s: %d", what, len(all))
	for _, raw := range all {
		p.line("  %s  %s", text(raw, key), text(raw, "name"))
		p.summary(raw)
	}
}

func (p *printer) summary(raw []byte) {
	if words := text(raw, "description"); words != "" {
		p.line("      %s", summary(words))
	}
}

// summary is the first line of a text, bounded.
func summary(words string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(words), "\n")
	runes := []rune(line)
	if len(runes) > maxSummary {
		line = string(runes[:maxSummary]) + "…"
	}
	return line
}

func text(object []byte, name string) string {
	value, _ := strictjson.Get(object, name)
	out, _ := strictjson.String(value)
	return out
}
