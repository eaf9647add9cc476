package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"
)

// noBar is the bar of a row that has none.
const noBar = -1

// tolerance is how far beyond a bar a figure may be before the bar counts as
// missed.
const tolerance = 1.25

// result is one row: a figure against its bar; a bar below 0 is none.
type result struct {
	what   string
	figure float64
	bar    float64
	// atLeast: the bar is what the figure has to reach.
	atLeast bool
	unit    string
	detail  string
}

// table collects rows; each is told on standard error as soon as it is known.
type table struct {
	out  io.Writer
	rows []result
}

func newTable(out io.Writer) *table { return &table{out: out} }

func (t *table) add(r result) {
	t.rows = append(t.rows, r)
	fmt.Fprintf(os.Stderr, "%s: %s (%s)\n", r.what, r.value(), r.detail)
}

func (r result) value() string { return fmt.Sprintf("%.4g%s", r.figure, r.unit) }

func (r result) verdict() string {
	figure, bar := r.figure, r.bar
	if r.atLeast {
		figure, bar = bar, figure
	}
	switch {
	case r.bar < 0:
		return ""
	case figure <= bar:
		return "met"
	case figure <= bar*tolerance:
		return "within a quarter"
	}
	return "MISSED"
}

// print writes the table and returns how many bars were missed.
func (t *table) print() int {
	w := tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "what\tfigure\tbar\tverdict\tmeasured")
	missed := 0
	for _, r := range t.rows {
		bar := ""
		if r.bar >= 0 {
			sign := "≤"
			if r.atLeast {
				sign = "≥"
			}
			bar = fmt.Sprintf("%s %.4g%s", sign, r.bar, r.unit)
		}
		verdict := r.verdict()
		if verdict == "MISSED" {
			missed++
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.what, r.value(), bar, verdict, r.detail)
	}
	_ = w.Flush() // what cannot be printed cannot be reported either
	return missed
}

func median(in []float64) float64 {
	s := slices.Sorted(slices.Values(in))
	if len(s) == 0 {
		return 0
	}
	if n := len(s); n%2 == 0 {
		return (s[n/2-1] + s[n/2]) / 2
	}
	return s[len(s)/2]
}

// p99 returns what 99 of 100 of a sorted slice do not exceed.
func p99(sorted []float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(0.99*float64(len(sorted))), len(sorted)-1)]
}
