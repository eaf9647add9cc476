package main

import (
	"fmt"
	"regexp"
	"strings"
	"text/tabwriter"
)

var chapterOf = regexp.MustCompile(`^([WB][0-9]+)\.|^([RPOC])[0-9]`)

// families are the rules that have no chapters.
var families = map[string]string{"R": "rulings", "P": "protocol decisions", "O": "operator decisions", "C": "cases"}

// counts of one chapter: of what must be, and of the rest.
type counts struct{ must, other map[string]int }

func (c counts) add(r row) {
	if r.must() {
		c.must[r.state]++
	} else {
		c.other[r.state]++
	}
}

func newCounts() counts { return counts{must: map[string]int{}, other: map[string]int{}} }

// summary prints the counts per chapter and level, and their sums.
func (t *table) summary(book *rulebook) string {
	var order []string
	per := map[string]counts{}
	wire, all := newCounts(), newCounts()
	for _, r := range t.rows {
		key := strings.Join(chapterOf.FindStringSubmatch(r.rule)[1:], "")
		if _, ok := per[key]; !ok {
			per[key] = newCounts()
			order = append(order, key)
		}
		per[key].add(r)
		all.add(r)
		if r.wire() {
			wire.add(r)
		}
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "chapter\tMUST and MUST NOT\tSHOULD, MAY and the rest")
	for _, key := range order {
		title := book.chapters[key]
		if title == "" {
			title = families[key]
		}
		fmt.Fprintf(w, "%s %s\t%s\t%s\n", key, title, line(per[key].must), line(per[key].other))
	}
	fmt.Fprintf(w, "all of the wire\t%s\t%s\n", line(wire.must), line(wire.other))
	fmt.Fprintf(w, "all %d rules\t%s\t%s\n", len(t.rows), line(all.must), line(all.other))
	_ = w.Flush() // into a strings.Builder
	return b.String()
}

func line(of map[string]int) string {
	var out []string
	for _, state := range states {
		if n := of[state]; n > 0 {
			out = append(out, fmt.Sprintf("%s %d", state, n))
		}
	}
	return strings.Join(out, ", ")
}
