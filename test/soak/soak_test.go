package soak

import (
	"bufio"
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/sidecar/config"
)

// clients is how many work at the same time.
const clients = 50

// idleSeconds is how long a process may have nothing to do.
const idleSeconds = 4

// back is a workload to soak.
type back struct {
	name    string
	model   string
	command func(journal string) []string
	dialect dialect
	// every is how often one of its processes is harmed.
	every time.Duration
	// reverse: what the workload asks reaches clients.
	reverse bool
}

func backs() []back {
	test, soak := dialects()
	foreign := func(journal string) []string { return []string{binary("testworkload"), "serve", "-journal", journal} }
	own := func(revisions string) func(journal string) []string {
		return func(journal string) []string {
			return []string{binary("soakworkload"), "-journal", journal, "-revisions", revisions}
		}
	}
	return []back{
		{"a process for each session", config.ProcessPerSession, own("legacy"), soak, time.Second, true},
		{"a foreign workload", config.ProcessPerSession, foreign, test, time.Second, true},
		{"a pool", config.ProcessPooled, own("legacy"), soak, time.Second, true},
		{"a shared process", config.ProcessShared, own("legacy"), soak, 6 * time.Second, false},
		{"a modern workload", config.ProcessPerSession, own("modern"), soak, 6 * time.Second, true},
	}
}

// B0.5, B0.6, B3.1, B3.3, B3.6, B3.8: no byte reaches another client, no request
// has two answers, no tool call runs twice, and nothing is left behind.
func TestSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("takes its time")
	}
	wanted := slices.DeleteFunc(backs(), func(b back) bool { return !strings.Contains(b.name, os.Getenv("SOAK_WORKLOAD")) })
	for _, b := range wanted {
		t.Run(b.name, func(t *testing.T) { b.soak(t, duration(t)/time.Duration(len(wanted)), seed(t)) })
	}
}

// seed is SOAK_SEED, or any.
func seed(t *testing.T) uint64 {
	t.Helper()
	n := rand.Uint64()
	if text := os.Getenv("SOAK_SEED"); text != "" {
		var err error
		if n, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("SOAK_SEED=%d", n)
	return n
}

// soak works for a tenth of the time first: what is made once is there then.
func (b *back) soak(t *testing.T, d time.Duration, seed uint64) {
	s := config.DefaultStdio()
	s.ProcessModel, s.MaxProcesses, s.IdleSeconds = b.model, 4*clients, idleSeconds
	if b.model == config.ProcessShared {
		s.SharedAcrossPrincipals = config.SharedAllow
	}
	journal := t.TempDir() + "/journal"
	p := startPod(t, s, b.command(journal)...)
	c := &crowd{url: p.public + config.DefaultMCPPath, dialect: b.dialect, tally: newTally(), faults: &faults{}}

	c.during(t, p, b.every, max(d/10, 5*time.Second), seed)
	before := p.begun()
	t.Logf("before: %v", before)
	harm := c.during(t, p, b.every, d, seed+1)
	t.Logf("%v of %d clients in %d lives, %v:\n%s", d, clients, c.lives.Load(), harm, c.tally)
	after := p.ended(before)
	t.Logf("after: %v", after)

	compare(t, before, after)
	c.judge(t, journal, b)
	if after.goroutines > before.goroutines {
		t.Logf("the sidecar's goroutines:\n%s", p.sidecar.stacks())
	}
}

// during lets clients and chaos loose.
func (c *crowd) during(t *testing.T, p *pod, every, d time.Duration, seed uint64) *chaos {
	ctx, stop := context.WithTimeout(t.Context(), d)
	defer stop()
	harm := &chaos{pod: p, every: every, rand: rand.New(rand.NewPCG(seed, seed))}
	var parts sync.WaitGroup
	parts.Go(func() { harm.run(ctx) })
	c.run(ctx, clients, seed)
	parts.Wait()
	return harm
}

// heapSlack is how much of the heap may be more than before.
const heapSlack = 0.05

func compare(t *testing.T, before, after figures) {
	t.Helper()
	if after.heap > before.heap*(1+heapSlack) {
		t.Errorf("the live heap has grown from %.0f to %.0f bytes", before.heap, after.heap)
	}
	before.heap, after.heap = 0, 0
	if before != after {
		t.Errorf("left behind:\nbefore %v\nafter  %v", before, after)
	}
}

// judge reads the journal and tells of every fault.
func (c *crowd) judge(t *testing.T, journal string, b *back) {
	t.Helper()
	ran := executions(t, journal)
	for token, lines := range ran {
		if len(lines) > 1 {
			c.faults.add("%s ran %d times: %s", token, len(lines), strings.Join(lines, ", "))
		}
	}
	for token, tool := range c.tally.done {
		if len(ran[token]) == 0 {
			c.faults.add("%s was answered by %s, which never ran", token, tool)
		}
	}
	for _, text := range c.faults.first {
		t.Error(text)
	}
	if n := c.faults.count - len(c.faults.first); n > 0 {
		t.Errorf("and %d faults more", n)
	}
	t.Logf("%d executions in the journal, %d answers of tools, %d faults", len(ran), len(c.tally.done), c.faults.count)
	// A soak in which nothing works finds nothing.
	for _, a := range acts {
		if asks := a.name == "elicit" || a.name == "sample"; (a.full && !b.dialect.full) || (asks && !b.reverse) {
			continue
		}
		if c.tally.worked(a.name) == 0 {
			t.Errorf("%s never worked", a.name)
		}
	}
}

// executions are the lines of the journal by token.
func executions(t *testing.T, name string) map[string][]string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := map[string][]string{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if token, rest, ok := strings.Cut(lines.Text(), " "); ok && token != "" {
			out[token] = append(out[token], rest)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}
