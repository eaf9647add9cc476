package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/test/conformance/suite"
)

// Row is what became of one scenario.
type Row struct {
	Set      *suite.Set
	Scenario suite.Scenario
	// Passed, Skipped and Excepted count different check ids: how often a
	// check is made depends on timing.
	Passed, Skipped, Excepted int
}

// Finding is a reason for which the run failed.
type Finding struct {
	Set             *suite.Set
	Scenario, Check string
	Status          suite.Status
	Message         string
	// File holds the details; it may be empty.
	File string
}

// Verdict is what all runs together say.
type Verdict struct {
	Rows     []Row
	Findings []Finding
	used     map[string]bool
	except   []Exception
	ran      map[string]bool
}

// NewVerdict begins one with what may fail.
func NewVerdict(exceptions []Exception) *Verdict {
	return &Verdict{except: exceptions, used: map[string]bool{}, ran: map[string]bool{}}
}

// Add judges the results of one run of the wanted scenarios of a set.
func (v *Verdict) Add(set *suite.Set, wanted []suite.Scenario, results map[string]suite.Found) {
	for _, sc := range wanted {
		found, ok := results[sc.Name]
		if !ok {
			v.Fail(set, sc.Name, "left no result: the suite crashed or skipped it", "")
			v.Rows = append(v.Rows, Row{Set: set, Scenario: sc})
			continue
		}
		for _, e := range v.except {
			if e.Scenario == sc.Name && e.in(set.Via) {
				v.ran[e.String()] = true
			}
		}
		v.Rows = append(v.Rows, v.row(set, sc, found))
	}
}

// Fail adds a finding that is not about a check.
func (v *Verdict) Fail(set *suite.Set, scenario, message, file string) {
	v.Findings = append(v.Findings, Finding{Set: set, Scenario: scenario, Status: suite.Failure, Message: message, File: file})
}

func (v *Verdict) row(set *suite.Set, sc suite.Scenario, found suite.Found) Row {
	row := Row{Set: set, Scenario: sc}
	worst := map[string]suite.Status{}
	for i := range found.Checks {
		c := &found.Checks[i]
		if c.Bad() && !v.excepted(set, sc.Name, c.ID) {
			v.Findings = append(v.Findings, Finding{
				Set: set, Scenario: sc.Name, Check: c.ID, Status: c.Status, File: found.File,
				Message: cmp.Or(c.ErrorMessage, c.Description),
			})
		}
		if rank(c.Status) > rank(worst[c.ID]) {
			worst[c.ID] = c.Status
		}
	}
	for id, status := range worst {
		switch {
		case status == suite.Success:
			row.Passed++
		case status == suite.Skipped:
			row.Skipped++
		case v.excepted(set, sc.Name, id):
			row.Excepted++
		}
	}
	return row
}

// excepted reports whether a check that went wrong may.
func (v *Verdict) excepted(set *suite.Set, scenario, check string) bool {
	i := slices.IndexFunc(v.except, func(e Exception) bool {
		return e.Scenario == scenario && e.Check == check && e.in(set.Via)
	})
	if i < 0 {
		return false
	}
	v.used[v.except[i].String()] = true
	return true
}

func rank(s suite.Status) int {
	return slices.Index([]suite.Status{"", suite.Info, suite.Skipped, suite.Success, suite.Warning, suite.Failure}, s)
}

// Close adds what can only be said at the end: exceptions for what does not
// fail, of those scenarios that ran.
func (v *Verdict) Close() {
	for _, e := range v.except {
		if v.ran[e.String()] && !v.used[e.String()] {
			v.Findings = append(v.Findings, Finding{
				Scenario: e.Scenario, Check: e.Check, Status: suite.Failure,
				Message: "is excepted, but passes: remove its line from exceptions.txt",
			})
		}
	}
}

// Exceptions returns those that were needed.
func (v *Verdict) Exceptions() []Exception {
	var out []Exception
	for _, e := range v.except {
		if v.used[e.String()] {
			out = append(out, e)
		}
	}
	return out
}

// Totals sums up rows.
func Totals(rows []Row) (scenarios, passed, skipped, excepted int) {
	for _, r := range rows {
		scenarios++
		passed += r.Passed
		skipped += r.Skipped
		excepted += r.Excepted
	}
	return scenarios, passed, skipped, excepted
}

// String is for a person who must act: what failed, why, where to look, and how
// to run just that again.
func (f Finding) String() string {
	var b strings.Builder
	where := f.Scenario
	if f.Set != nil {
		where = f.Set.Key() + " " + f.Scenario
	}
	if f.Check != "" {
		where += ":" + f.Check
	}
	fmt.Fprintf(&b, "%s %s\n        %s\n", f.Status, where, strings.ReplaceAll(f.Message, "\n", "\n        "))
	if f.File != "" {
		fmt.Fprintf(&b, "        details: %s\n", f.File)
	}
	if f.Set != nil && f.Scenario != "" {
		via := ""
		if f.Set.Via != "" {
			via = "-via " + f.Set.Via + " "
		}
		fmt.Fprintf(&b, "        again:   make conformance ARGS='%s-set %s -only %s'\n", via, f.Set.Key(), f.Scenario)
	}
	return b.String()
}
