package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// The states a rule can be in.
const (
	stateTested  = "tested"      // the last column names the tests
	stateLater   = "later"       // a part that does not exist yet
	stateNotOurs = "not-ours"    // binds another role
	stateHuman   = "human"       // a duty of people, not of a program
	stateRefused = "not-offered" // a feature we do not offer, and refuse
	stateFact    = "fact"        // explains; demands nothing
)

var states = map[string]bool{stateTested: true, stateLater: true, stateNotOurs: true, stateHuman: true, stateRefused: true, stateFact: true}

// maxTests bounds the tests listed per rule: more prove nothing more.
const maxTests = 6

type row struct{ rule, level, state, detail string }

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
		if len(cols) != 4 {
			return nil, fmt.Errorf("%s:%d: %d columns, want rule, level, state, tests or reason", path, i+1, len(cols))
		}
		t.rows = append(t.rows, row{cols[0], cols[1], cols[2], cols[3]})
	}
	return t, nil
}

func (t *table) save(path string) error {
	var b strings.Builder
	for _, line := range t.header {
		b.WriteString(line + "\n")
	}
	for _, r := range t.rows {
		b.WriteString(strings.Join([]string{r.rule, r.level, r.state, r.detail}, "\t") + "\n")
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

// fill sets the tests of every rule that a test names, and turns a rule whose
// tests are gone back into one for later.
func (t *table) fill(found *testIndex) {
	for i := range t.rows {
		r := &t.rows[i]
		tests := found.byRule[r.rule]
		switch {
		case len(tests) > 0:
			r.state, r.detail = stateTested, strings.Join(tests[:min(len(tests), maxTests)], " ")
		case r.state == stateTested:
			r.state, r.detail = stateLater, ""
		}
	}
}

func (t *table) check(found *testIndex) error {
	var problems []error
	known := map[string]bool{}
	for _, r := range t.rows {
		if known[r.rule] {
			problems = append(problems, fmt.Errorf("%s: listed twice", r.rule))
		}
		known[r.rule] = true
		problems = append(problems, r.problems(found)...)
	}
	for rule, tests := range found.byRule {
		if !known[rule] {
			problems = append(problems, fmt.Errorf("%s: named by %s, but test/rules.tsv has no such rule", rule, tests[0]))
		}
	}
	return errors.Join(problems...)
}

func (r row) problems(found *testIndex) []error {
	if !states[r.state] {
		return []error{fmt.Errorf("%s: unknown state %q", r.rule, r.state)}
	}
	if r.state != stateTested {
		return nil
	}
	tests := strings.Fields(r.detail)
	if len(tests) == 0 {
		return []error{fmt.Errorf("%s: tested, but no test is named", r.rule)}
	}
	var problems []error
	for _, test := range tests {
		if !found.tests[test] {
			problems = append(problems, fmt.Errorf("%s: test %s does not exist", r.rule, test))
		}
	}
	return problems
}

func (t *table) summary() string {
	all, must := map[string]int{}, map[string]int{}
	for _, r := range t.rows {
		all[r.state]++
		if strings.HasPrefix(r.level, "MUST") {
			must[r.state]++
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d rules:", len(t.rows))
	for _, state := range []string{stateTested, stateLater, stateNotOurs, stateHuman, stateRefused, stateFact} {
		fmt.Fprintf(&b, " %s %d (MUST %d)", state, all[state], must[state])
	}
	return b.String()
}
