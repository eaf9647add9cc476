package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"
)

// asJSON reports whether the answer is for a program.
func (p *plugin) asJSON() bool { return p.options.output == "json" }

func (p *plugin) printJSON(v any) error {
	enc := json.NewEncoder(p.streams.Out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// table prints rows under a head, aligned.
func table(w io.Writer, head []string, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(t, strings.Join(head, "\t"))
	for _, row := range rows {
		for i, cell := range row {
			if row[i] = oneLine(cell); row[i] == "" {
				row[i] = "-"
			}
		}
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	return t.Flush()
}

// printable makes text that others wrote safe for a terminal: line feeds stay,
// other control characters are shown, never sent.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == '\t':
			return ' '
		case r == unicode.ReplacementChar || unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return '·'
		}
		return r
	}, s)
}

func oneLine(s string) string {
	return strings.Join(strings.Fields(printable(s)), " ")
}
