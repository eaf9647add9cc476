package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"strings"
)

// group is one parenthesized const declaration.
type group struct {
	doc       string
	constants []constant
}

// constant is one in it: its string value, and its doc without its own name and
// with the names of other constants replaced by their values. where is what the
// doc says in parentheses behind the name.
type constant struct{ value, where, doc string }

// read returns the constants of a Go file in the order in which they stand.
func read(file, prefix string) ([]group, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	var out []group
	for _, decl := range parsed.Decls {
		d, ok := decl.(*ast.GenDecl)
		if !ok || d.Tok != token.CONST {
			continue
		}
		g := group{doc: plain(d.Doc.Text())}
		for _, spec := range d.Specs {
			v := spec.(*ast.ValueSpec)
			name := v.Names[0].Name
			literal, ok := v.Values[0].(*ast.BasicLit)
			if !ok || !strings.HasPrefix(name, prefix) {
				return nil, fmt.Errorf("%s: %s is not a %s constant with a literal value", file, name, prefix)
			}
			value, err := strconv.Unquote(literal.Value)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", file, name, err)
			}
			doc := strings.TrimSpace(strings.TrimPrefix(v.Doc.Text(), name))
			where := ""
			if inside, ok := strings.CutPrefix(doc, "("); ok {
				where, doc, _ = strings.Cut(inside, ")")
			}
			g.constants = append(g.constants, constant{
				value: value, where: where, doc: plain(strings.TrimPrefix(doc, ": ")),
			})
		}
		out = append(out, g)
	}
	return out, nil
}

var (
	goName = regexp.MustCompile(`\b(?:Reason|Condition)([A-Z]\w+)`)
	// ruleIDs are references to the numbered decisions in docs/protocol, of use
	// to readers of the code.
	ruleIDs = regexp.MustCompile(` \([A-Z]\d+(?:, [A-Z]\d+)*\)`)
)

// plain turns a Go doc comment into text for people who do not read Go: lines
// of a paragraph joined, names of constants replaced by their values.
func plain(doc string) string {
	doc = strings.TrimSpace(doc)
	var paragraphs []string
	for p := range strings.SplitSeq(doc, "\n\n") {
		var lines []string
		for line := range strings.SplitSeq(p, "\n") {
			// "True: …" begins a line of its own; others continue one.
			if n := len(lines); n > 0 && !beginsStatus(line) {
				lines[n-1] += " " + strings.TrimSpace(line)
				continue
			}
			lines = append(lines, strings.TrimSpace(line))
		}
		for i, line := range lines {
			if beginsStatus(line) {
				status, rest, _ := strings.Cut(line, ":")
				lines[i] = "- **" + status + "**:" + rest
			}
		}
		paragraphs = append(paragraphs, strings.Join(lines, "\n"))
	}
	text := ruleIDs.ReplaceAllString(strings.Join(paragraphs, "\n\n"), "")
	return capital(strings.TrimSpace(goName.ReplaceAllString(text, "$1")))
}

func beginsStatus(line string) bool {
	for _, s := range []string{"True:", "False:", "Unknown:"} {
		if strings.HasPrefix(line, s) {
			return true
		}
	}
	return false
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// cell fits a text into a cell of a table.
func cell(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", `\|`)
}
