package main

import (
	"bytes"
	"strings"
	"testing"
)

// P12, P32: a figure beyond a bar by more than a quarter is missed, and only
// that ends the run with an error.
func TestVerdicts(t *testing.T) {
	for name, test := range map[string]struct {
		figure, bar float64
		want        string
		missed      int
		atLeast     bool
	}{
		"below the bar":              {1.49, 1.5, "met", 0, false},
		"on the bar":                 {1.5, 1.5, "met", 0, false},
		"a quarter beyond":           {1.87, 1.5, "within a quarter", 0, false},
		"more than a quarter":        {1.88, 1.5, "MISSED", 1, false},
		"none where none may be":     {0, 0, "met", 0, false},
		"one where none may be":      {1, 0, "MISSED", 1, false},
		"a row that has no bar":      {99, noBar, "", 0, false},
		"better than nothing at all": {-1, 0, "met", 0, false},
		"more than enough":           {7.1, 7, "met", 0, true},
		"a quarter short":            {5.6, 7, "within a quarter", 0, true},
		"too little":                 {5.5, 7, "MISSED", 1, true},
		"more where none is asked":   {5.5, noBar, "", 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := result{what: "x", figure: test.figure, bar: test.bar, atLeast: test.atLeast, unit: " ×"}
			if got := r.verdict(); got != test.want {
				t.Errorf("verdict %q, want %q", got, test.want)
			}
			var out bytes.Buffer
			table := table{out: &out, rows: []result{r}}
			if got := table.print(); got != test.missed || !strings.Contains(out.String(), test.want) {
				t.Errorf("%d missed, want %d:\n%s", got, test.missed, out.String())
			}
		})
	}
}

func TestMedianAndP99(t *testing.T) {
	for _, test := range []struct {
		in     []float64
		median float64
		p99    float64
	}{
		{nil, 0, 0},
		{[]float64{3}, 3, 3},
		{[]float64{1, 2, 4}, 2, 4},
		{[]float64{1, 2, 3, 4}, 2.5, 4},
	} {
		if got := median(test.in); got != test.median {
			t.Errorf("median of %v: %v", test.in, got)
		}
		if got := p99(test.in); got != test.p99 {
			t.Errorf("p99 of %v: %v", test.in, got)
		}
	}
}
