package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

const maxArguments = 4 << 20 // bytes; what a sidecar accepts by default

func (p *plugin) call() *cobra.Command {
	return &cobra.Command{
		Use:   "call NAME TOOL [JSON|-]",
		Short: "Call a tool of an McpServer",
		Long: `Call a tool of an McpServer and print what it answers.

The arguments are one JSON object; - reads it from standard input, and without
it the tool is called with {}. Text is printed as it is, every other kind of
content as a line of JSON; -o json prints the whole result. A tool that answers
with an error, or that does not exist, prints nothing on standard output and
ends with exit code 1.`,
		Example: "  kubectl mcp call everything echo '{\"message\":\"hello\"}'",
		Args:    args(cobra.RangeArgs(2, 3)),
		RunE: p.command(func(ctx context.Context, c cluster, a []string) error {
			in, err := p.arguments(a[2:])
			if err != nil {
				return err
			}
			return p.withSession(ctx, c, a[0], func(s session) error {
				result, err := s.call(ctx, a[1], in)
				if err != nil {
					return fmt.Errorf("%s: %w", a[1], err)
				}
				return p.printResult(a[1], result)
			})
		}),
	}
}

func (p *plugin) arguments(a []string) (json.RawMessage, error) {
	if len(a) == 0 {
		return json.RawMessage("{}"), nil
	}
	raw := []byte(a[0])
	if a[0] == "-" {
		var err error
		if raw, err = io.ReadAll(io.LimitReader(p.streams.In, maxArguments+1)); err != nil {
			return nil, err
		}
		if len(raw) > maxArguments {
			return nil, usagef("arguments: more than %d bytes", maxArguments)
		}
	}
	if raw = bytes.TrimSpace(raw); !json.Valid(raw) || raw[0] != '{' {
		return nil, usagef("arguments: not a JSON object: %.100s", raw)
	}
	return raw, nil
}

// result is what is read of a tool's result to print it.
type result struct {
	IsError           bool              `json:"isError"`
	Content           []json.RawMessage `json:"content"`
	StructuredContent json.RawMessage   `json:"structuredContent"`
}

func (p *plugin) printResult(tool string, raw json.RawMessage) error {
	var r result
	if err := json.Unmarshal(raw, &r); err != nil {
		return fmt.Errorf("%s: a result that cannot be read: %w", tool, err)
	}
	lines := r.lines()
	if r.IsError {
		if len(lines) == 0 {
			lines = []string{"the tool answered with an error and said nothing"}
		}
		return errors.New(tool + ": " + strings.Join(lines, "\n"))
	}
	if p.asJSON() {
		return p.printJSON(raw)
	}
	for _, l := range lines {
		if _, err := fmt.Fprintln(p.streams.Out, l); err != nil {
			return err
		}
	}
	return nil
}

// lines are the contents, text as it is, the rest as JSON.
func (r result) lines() (lines []string) {
	for _, raw := range r.Content {
		var c struct{ Type, Text string }
		if err := json.Unmarshal(raw, &c); err == nil && c.Type == "text" {
			lines = append(lines, c.Text)
			continue
		}
		lines = append(lines, compact(raw))
	}
	if len(lines) == 0 && len(r.StructuredContent) > 0 {
		lines = append(lines, compact(r.StructuredContent))
	}
	return lines
}

func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return string(raw)
	}
	return b.String()
}
