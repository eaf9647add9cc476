package report

import (
	"fmt"
	"strings"

	"github.com/fairlead-dev/fairlead/test/conformance/suite"
)

// parts are what the page says of the sets that ran: a line of sums for each,
// and tables. The sets that ran through the sidecar have one table for each
// set that they are of, with a column for each build behind it.
func (v *Verdict) parts() (sums, sections []string) {
	sets := v.bySet()
	var through []*suite.Set // in order of appearance, without Via
	columns := map[string][][]Row{}
	for _, rows := range sets {
		n, passed, skipped, excepted := Totals(rows)
		set := rows[0].Set
		sums = append(sums, fmt.Sprintf("| %s | %s | %d | %d | %d | %d |\n", title(set), set.Leg, n, passed, skipped, excepted))
		if set.Via == "" {
			sections = append(sections, table(rows))
			continue
		}
		of := behind(set)
		if columns[of.Key()] == nil {
			through = append(through, of)
		}
		columns[of.Key()] = append(columns[of.Key()], rows)
	}
	for _, of := range through {
		sections = append(sections, wideTable(of, columns[of.Key()]))
	}
	return sums, sections
}

// behind is the set that one through the sidecar is of.
func behind(s *suite.Set) *suite.Set {
	of := *s
	of.Via = ""
	return &of
}

func table(rows []Row) string {
	var b strings.Builder
	set := rows[0].Set
	fmt.Fprintf(&b, "## %s, %s\n\n| scenario | checks passed | skipped | excepted | not scored because |\n|---|--:|--:|--:|---|\n", title(set), set.Leg)
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s |\n", r.Scenario.Name, r.Passed, unless0(r.Skipped), unless0(r.Excepted), r.Scenario.Unscored)
	}
	return b.String()
}

// wideTable has the checks that passed in a column for each build.
func wideTable(of *suite.Set, columns [][]Row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s, %s, through the sidecar\n\n| scenario |", title(of), of.Leg)
	for _, rows := range columns {
		fmt.Fprintf(&b, " %s |", rows[0].Set.Via)
	}
	fmt.Fprintf(&b, " not scored because |\n|---|%s---|\n", strings.Repeat("--:|", len(columns)))
	for i, r := range columns[0] {
		fmt.Fprintf(&b, "| %s |", r.Scenario.Name)
		for _, rows := range columns {
			fmt.Fprintf(&b, " %s |", cell(rows[i]))
		}
		fmt.Fprintf(&b, " %s |\n", r.Scenario.Unscored)
	}
	return b.String()
}

func cell(r Row) string {
	text := fmt.Sprint(r.Passed)
	if r.Skipped > 0 {
		text += fmt.Sprintf(", %d skipped", r.Skipped)
	}
	if r.Excepted > 0 {
		text += fmt.Sprintf(", %d excepted", r.Excepted)
	}
	return text
}

func unless0(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// bySet splits the rows where the set changes.
func (v *Verdict) bySet() [][]Row {
	var out [][]Row
	for i, r := range v.Rows {
		if i == 0 || r.Set != v.Rows[i-1].Set {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], r)
	}
	return out
}

// Difference is the first place where a page says something else of the sets
// that ran, empty if it does not: their sums, and those tables that all sets of
// the page's own table ran for.
func (v *Verdict) Difference(page string) string {
	sums, sections := v.parts()
	for _, line := range sums {
		if !strings.Contains(page, "\n"+line) {
			return "  the page has no line\n  + " + strings.TrimSpace(line)
		}
	}
	for _, s := range sections {
		head, _, _ := strings.Cut(s, "\n\n| scenario")
		_, old, ok := strings.Cut(page, "\n"+head+"\n")
		if !ok {
			return "  the page has no section\n  + " + head
		}
		old, _, _ = strings.Cut(old, "\n## ")
		old = head + "\n" + strings.TrimRight(old, "\n") + "\n"
		if width(old) != width(s) {
			continue // it is of more builds
		}
		if line := FirstDifference(old, s); line != "" {
			return head + "\n" + line
		}
	}
	return ""
}

// width counts the columns of a section's table.
func width(section string) int {
	_, table, _ := strings.Cut(section, "\n| scenario")
	head, _, _ := strings.Cut(table, "\n")
	return strings.Count(head, "|")
}
