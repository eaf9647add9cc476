package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// The states a rule can be in.
const (
	stateTested  = "tested"      // the last column names the tests
	stateLater   = "later"       // comes with the part that the last column names
	stateOpen    = "open"        // not proven; never a MUST
	stateNotOurs = "not-ours"    // binds another role
	stateHuman   = "human"       // a duty of people, not of a program
	stateRefused = "not-offered" // a feature we do not offer, and refuse
	stateOption  = "option"      // a MAY that we do not take
	stateFact    = "fact"        // explains; demands nothing
)

// states in the order of the summary.
var states = []string{stateTested, stateNotOurs, stateHuman, stateRefused, stateOption, stateFact, stateLater, stateOpen}

// parts are what `later` may wait for.
var parts = []string{"bridge", "routing", "bindings", "access", "operate"}

// noRole is the role of a rule that has none in the text.
const noRole = "-"

// maxTests bounds the tests listed per rule: more prove nothing more.
const maxTests = 6

type row struct{ rule, role, level, state, detail string }

func (r row) must() bool { return strings.Contains(r.level, "MUST") }

// wire says whether the rule is one of the wire itself.
func (r row) wire() bool { return strings.HasPrefix(r.rule, "W") }

type table struct {
	header []string // comment lines
	rows   []row
}

func readTable(path string) (*table, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	t := &table{}
	for i, line := range strings.Split(strings.TrimRight(string(data), "\n"), "\n") {
		if strings.HasPrefix(line, "#") {
			t.header = append(t.header, line)
			continue
		}
		cols := strings.Split(line, "\t")
		if len(cols) != 5 {
			return nil, fmt.Errorf("%s:%d: %d columns, want rule, role, level, state, tests or reason", path, i+1, len(cols))
		}
		t.rows = append(t.rows, row{cols[0], cols[1], cols[2], cols[3], cols[4]})
	}
	return t, nil
}

func (t *table) save(path string) error {
	var b strings.Builder
	for _, line := range t.header {
		b.WriteString(line + "\n")
	}
	for _, r := range t.rows {
		b.WriteString(strings.Join([]string{r.rule, r.role, r.level, r.state, r.detail}, "\t") + "\n")
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

// fill sets the tests of every rule that a test names, takes role and level
// from the text, and opens a rule again whose tests are gone.
func (t *table) fill(found *testIndex, book *rulebook) {
	for i := range t.rows {
		r := &t.rows[i]
		if text, ok := book.rules[r.rule]; ok {
			r.role, r.level = text.role, text.level
		}
		tests := found.byRule[r.rule]
		switch {
		case len(tests) > 0:
			r.state, r.detail = stateTested, strings.Join(tests[:min(len(tests), maxTests)], " ")
		case r.state == stateTested:
			r.state, r.detail = stateOpen, ""
		}
	}
}

func (t *table) check(found *testIndex) []error {
	var problems []error
	known := map[string]bool{}
	for _, r := range t.rows {
		if known[r.rule] {
			problems = append(problems, fmt.Errorf("%s: listed twice", r.rule))
		}
		known[r.rule] = true
		if err := r.problem(found); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", r.rule, err))
		}
	}
	for rule, tests := range found.byRule {
		if !known[rule] {
			problems = append(problems, fmt.Errorf("%s: named by %s, but test/rules.tsv has no such rule", rule, tests[0]))
		}
	}
	return problems
}

// problem says what is wrong with one line of the table.
func (r row) problem(found *testIndex) error {
	switch r.state {
	case stateTested:
		return found.checkAll(strings.Fields(r.detail))
	case stateNotOurs, stateHuman, stateRefused:
		if r.detail == "" {
			return errors.New("a reason is missing")
		}
	case stateOption:
		if !strings.HasPrefix(r.level, "MAY") || r.must() {
			return fmt.Errorf("%s is no option", r.level)
		}
	case stateFact:
		if r.level != "NOTE" && r.level != "OBS" {
			return fmt.Errorf("%s demands something", r.level)
		}
	case stateLater:
		if r.wire() && r.must() {
			return fmt.Errorf("a %s of the wire cannot wait", r.level)
		}
		if !slices.Contains(parts, r.detail) {
			return fmt.Errorf("waits for %q, want one of %s", r.detail, strings.Join(parts, ", "))
		}
	case stateOpen:
		if r.must() {
			return fmt.Errorf("%s without a test or a reason", r.level)
		}
	default:
		return fmt.Errorf("unknown state %q", r.state)
	}
	return nil
}
