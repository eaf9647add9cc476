package soak

import (
	"fmt"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
)

// result is what one soak found. Missed has a text for everything that is not
// as it must be; it is empty when the workload has passed.
type result struct {
	back          string
	time          time.Duration
	lives         uint64
	harm          string
	ran, answers  int
	faults        int
	before, after figures
	missed        []string
}

// judge holds what clients saw against what was done, and what is left against
// what was there.
func (r *result) judge(c *crowd, ran map[string][]string, b *back) {
	r.miss(c.tally.against(ran, c.faults)...)
	r.miss(leftBehind(r.before, r.after)...)
	r.miss(c.tally.idle(b)...)
	r.ran, r.answers, r.faults = len(ran), len(c.tally.done), c.faults.count
}

func (r *result) miss(texts ...string) { r.missed = append(r.missed, texts...) }

// against compares answers with the journal, which has lines by token, and
// tells of all faults that were found.
func (t *tally) against(ran map[string][]string, f *faults) []string {
	for token, lines := range ran {
		if len(lines) > 1 {
			f.add("%s ran %d times: %s", token, len(lines), strings.Join(lines, ", "))
		}
	}
	for token, tool := range t.done {
		if len(ran[token]) == 0 {
			f.add("%s was answered by %s, which never ran", token, tool)
		}
	}
	if n := f.count - len(f.first); n > 0 {
		return append(f.first, fmt.Sprintf("and %d faults more", n))
	}
	return f.first
}

// idle names what never worked: a soak in which nothing works finds nothing.
func (t *tally) idle(b *back) (missed []string) {
	for _, a := range acts {
		if asks := a.name == "elicit" || a.name == "sample"; (a.full && !b.dialect.full) || (asks && !b.reverse) {
			continue
		}
		if t.worked(a.name) == 0 {
			missed = append(missed, a.name+" never worked")
		}
	}
	return missed
}

// heapSlack is how much of the heap may be more than before.
const heapSlack = 0.05

func leftBehind(before, after figures) (missed []string) {
	for _, f := range []struct {
		what       string
		was, there int
	}{
		{"goroutines", before.goroutines, after.goroutines},
		{"descriptors", before.descriptors, after.descriptors},
		{"sessions", before.sessions, after.sessions},
		{"streams", before.streams, after.streams},
		{"processes of the agent", before.processes, after.processes},
		{"processes", before.ours, after.ours},
		{"parked calls", before.parked, after.parked},
		{"tasks", before.tasks, after.tasks},
		{"ids of sessions", before.ids, after.ids},
	} {
		if f.was != f.there {
			missed = append(missed, fmt.Sprintf("there were %d %s before and are %d after", f.was, f.what, f.there))
		}
	}
	if after.heap > before.heap*(1+heapSlack) {
		missed = append(missed, fmt.Sprintf("the live heap has grown from %.0f to %.0f bytes", before.heap, after.heap))
	}
	return missed
}

// report collects the results of soaks. Safe for concurrent use.
type report struct {
	mu  sync.Mutex
	all []*result
}

func (r *report) add(one *result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, one)
}

// String is a table with the bars in its second line.
func (r *report) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "workload\ttime\tlives\tharm\texecutions\tanswers\tfaults\tgoroutines\tdescriptors\tprocesses\tseries\tlive heap, KiB\t\n")
	fmt.Fprintf(w, "bar\t\t\t\t\t\t0\tas before\tas before\tas before\t\t+%.0f %%\t\n", heapSlack*100)
	for _, one := range r.all {
		verdict := "held"
		if len(one.missed) > 0 {
			verdict = "MISSED"
		}
		b, a := one.before, one.after
		fmt.Fprintf(w, "%s\t%v\t%d\t%s\t%d\t%d\t%d\t%d, %d\t%d, %d\t%d, %d\t%d, %d\t%.0f, %.0f (%+.1f %%)\t%s\n",
			one.back, one.time, one.lives, one.harm, one.ran, one.answers, one.faults,
			b.goroutines, a.goroutines, b.descriptors, a.descriptors, b.ours, a.ours, b.series, a.series,
			b.heap/(1<<10), a.heap/(1<<10), 100*(a.heap/b.heap-1), verdict)
	}
	_ = w.Flush() // a strings.Builder takes everything
	return out.String()
}
