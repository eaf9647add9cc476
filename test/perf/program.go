package main

import (
	"context"
	"fmt"
	"time"
)

// program is one thing to measure: a server process and the request it gets.
type program struct {
	name    string
	addr    string
	pid     int
	request []byte
	// work makes it work n times where a request does not.
	work func(ctx context.Context, n int) error
	// conns are the connections that the request comes over [usualConns].
	conns int
	// share divides the requests of a round [1].
	share int
	// allocations reads how many there were since the process began, and
	// how many of them reading them makes; nil: not known.
	allocations func() (total, own float64, err error)
	// tree: its children are measured too.
	tree bool

	cost    []float64 // microseconds of CPU per request, a run each
	whole   []float64 // those with its children
	mallocs []float64
}

// usualConns is how many connections requests come over.
const usualConns = 4

// programOf is one in a child of ours.
func programOf(name string, c *child, request []byte) *program {
	return &program{name: name, addr: c.addr, pid: c.cmd.Process.Pid, request: request, allocations: func() (float64, float64, error) {
		u, err := c.ask(askUsage)
		return float64(u.Mallocs), 0, err
	}}
}

// send makes the process work.
func (p *program) send(ctx context.Context, n int) error {
	if p.work != nil {
		return p.work(ctx, n)
	}
	conns := p.conns
	if conns == 0 {
		conns = usualConns
	}
	return hammer(ctx, p.addr, p.request, echoed, conns, n)
}

// run has the process work n times and notes what that cost it.
func (p *program) run(ctx context.Context, n int, count bool) error {
	var before, own float64
	var err error
	if p.allocations != nil {
		if before, own, err = p.allocations(); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	cpu, whole, err := p.spent()
	if err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	if err := p.send(ctx, n); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	cpuAfter, wholeAfter, err := p.spent()
	if err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	var after float64
	if p.allocations != nil {
		if after, _, err = p.allocations(); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	if !count {
		return nil
	}
	per := func(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) / float64(n) }
	p.cost = append(p.cost, per(cpuAfter-cpu))
	p.whole = append(p.whole, per(wholeAfter-whole))
	p.mallocs = append(p.mallocs, (after-before-own)/float64(n))
	return nil
}

// spent is the CPU time of the process, and with its children.
func (p *program) spent() (own, whole time.Duration, err error) {
	if own, err = cpuOf(p.pid); err != nil || !p.tree {
		return own, own, err
	}
	whole, err = treeCPU(p.pid)
	return own, whole, err
}

// cycle runs the programs in turn, so that what disturbs the machine disturbs
// them all; the first round warms them and does not count.
func cycle(ctx context.Context, programs []*program, rounds, n int) error {
	for i := range rounds + 1 {
		for _, p := range programs {
			if err := p.run(ctx, n/max(p.share, 1), i > 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// ratio is the median over runs that lie next to each other in time.
func ratio(of, to []float64) float64 {
	ratios := make([]float64, len(of))
	for i := range of {
		ratios[i] = of[i] / to[i]
	}
	return median(ratios)
}

// against adds the row of p's cost as a multiple of floor's.
func (p *program) against(floor *program, t *table, what string, bar float64) {
	t.add(result{what: what, figure: ratio(p.cost, floor.cost), bar: bar, unit: " ×", detail: p.told() + "; " + floor.name + " " + floor.told()})
}

// told says what a request cost it.
func (p *program) told() string {
	text := fmt.Sprintf("%.1f µs", median(p.cost))
	if p.allocations != nil {
		text += fmt.Sprintf(", %.0f allocations", median(p.mallocs))
	}
	if p.tree {
		text += fmt.Sprintf(", %.1f µs with its children", median(p.whole))
	}
	return text
}
