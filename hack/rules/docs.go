package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// ruleFiles are where the text of the rules lives.
var ruleFiles = []string{"docs/protocol/*.md", "docs/operator-decisions.md"}

var (
	// wireRule is "- **W1.2** `MUST` `[A-E]` `S,C` text".
	wireRule = regexp.MustCompile("^- \\*\\*(W[0-9]+\\.[0-9]+)\\*\\* `([^`]+)` `\\[[^`]+\\]` `([SIC,]+)` \\S")
	// bridgeRule is "- **B1.2** `MUST` text".
	bridgeRule = regexp.MustCompile("^- \\*\\*(B[0-9]+\\.[0-9]+)\\*\\* `([^`]+)` \\S")
	// decision is "- **P12 Title.** text"; a case is a heading of its own.
	decision = regexp.MustCompile(`^- \*\*([RPO][0-9]+) \S|^### (C[0-9]+) \S`)
	// chapter is "## W12. Batching".
	chapter = regexp.MustCompile(`^## ([WB][0-9]+)\. (.+)$`)
	// anyRule catches what looks like the head of a rule but is none of these.
	anyRule = regexp.MustCompile(`^- \*\*[A-Z][0-9]`)
)

// ruleText is what the documents say about one rule.
type ruleText struct{ role, level string }

// rulebook is the text of all rules: what they are, in order of appearance,
// and the titles of their chapters.
type rulebook struct {
	rules    map[string]ruleText
	order    []string
	chapters map[string]string // "W12" to "Batching"
}

func readRulebook(root string) (*rulebook, error) {
	book := &rulebook{rules: map[string]ruleText{}, chapters: map[string]string{}}
	for _, pattern := range ruleFiles {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			if err := book.read(path); err != nil {
				return nil, err
			}
		}
	}
	if len(book.rules) == 0 {
		return nil, fmt.Errorf("no rule in %s", strings.Join(ruleFiles, ", "))
	}
	return book, nil
}

func (b *rulebook) read(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for n, line := range strings.Split(string(data), "\n") {
		if m := chapter.FindStringSubmatch(line); m != nil {
			b.chapters[m[1]] = m[2]
			continue
		}
		rule, text := parseRule(line)
		if rule == "" {
			if anyRule.MatchString(line) {
				return fmt.Errorf("%s:%d: reads like a rule, but has no number, level, revisions and role: %.60s", path, n+1, line)
			}
			continue
		}
		if _, twice := b.rules[rule]; twice {
			return fmt.Errorf("%s:%d: %s stands here a second time", path, n+1, rule)
		}
		b.rules[rule] = text
		b.order = append(b.order, rule)
	}
	return nil
}

// parseRule reads the head of a rule; "" if the line is none.
func parseRule(line string) (string, ruleText) {
	if m := wireRule.FindStringSubmatch(line); m != nil {
		return m[1], ruleText{role: m[3], level: m[2]}
	}
	if m := bridgeRule.FindStringSubmatch(line); m != nil {
		return m[1], ruleText{role: noRole, level: m[2]}
	}
	if m := decision.FindStringSubmatch(line); m != nil {
		return m[1] + m[2], ruleText{role: noRole, level: "MUST"}
	}
	return "", ruleText{}
}

// check compares the table with the text, both ways.
func (b *rulebook) check(t *table) []error {
	var problems []error
	listed := map[string]bool{}
	for _, r := range t.rows {
		listed[r.rule] = true
		text, ok := b.rules[r.rule]
		switch {
		case !ok:
			problems = append(problems, fmt.Errorf("%s: no such rule in docs/", r.rule))
		case text.role != r.role || text.level != r.level:
			problems = append(problems, fmt.Errorf("%s: listed as %s %s, the text says %s %s", r.rule, r.role, r.level, text.role, text.level))
		}
	}
	for _, rule := range b.order {
		if !listed[rule] {
			problems = append(problems, fmt.Errorf("%s: in docs/, but not in test/rules.tsv", rule))
		}
	}
	return problems
}
