package soak

import (
	"bufio"
	"context"
	"math/rand/v2"
	"os"
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
	command func(program func(name string) string, journal string) []string
	dialect dialect
	// every is how often one of its processes is harmed.
	every time.Duration
	// reverse: what the workload asks reaches clients.
	reverse bool
}

func backs() []back {
	test, soak := dialects()
	foreign := func(program func(string) string, journal string) []string {
		return []string{program("testworkload"), "serve", "-journal", journal}
	}
	own := func(revisions string) func(func(string) string, string) []string {
		return func(program func(string) string, journal string) []string {
			return []string{program("soakworkload"), "-journal", journal, "-revisions", revisions}
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
	d, first, all := duration(t), seed(t), &report{}
	t.Cleanup(func() { t.Logf("\n%s", all) }) // when the parallel ones are over
	for i, b := range backs() {
		if strings.Contains(b.name, os.Getenv("SOAK_WORKLOAD")) {
			t.Run(b.name, func(t *testing.T) {
				t.Parallel()
				all.add(b.soak(t, d, first+uint64(2*i)))
			})
		}
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

// leastWarm is how long everything takes to have been used.
const leastWarm = 2 * time.Minute

// soak lets the same clients do the same harm twice: first for half of the
// time or leastWarm, so that what a sidecar that works has at hand is there, then for all of
// it. Before and after, nobody uses the pod for settle or longer.
func (b *back) soak(t *testing.T, d time.Duration, seed uint64) *result {
	s := config.DefaultStdio()
	s.ProcessModel, s.MaxProcesses, s.IdleSeconds = b.model, 4*clients, idleSeconds
	if b.model == config.ProcessShared {
		s.SharedAcrossPrincipals = config.SharedAllow
	}
	journal := t.TempDir() + "/journal"
	p := startPod(t, s, func(program func(string) string) []string { return b.command(program, journal) })
	c := &crowd{url: p.public + config.DefaultMCPPath, dialect: b.dialect, tally: newTally(), faults: &faults{}}
	r := &result{back: b.name, time: d}

	c.during(t, p, b.every, max(d/2, leastWarm), seed)
	r.before = p.begun()
	r.harm = c.during(t, p, b.every, d, seed+1).String()
	r.after = p.ended(r.before)
	r.lives = c.lives.Load()
	r.judge(c, executions(t, journal), b)

	t.Logf("what came of what:\n%s", c.tally)
	t.Logf("before: %v\nafter: %v", r.before, r.after)
	for _, text := range r.missed {
		t.Error(text)
	}
	if r.after.goroutines != r.before.goroutines {
		t.Logf("the sidecar's goroutines:\n%s", p.stacks)
	}
	return r
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
