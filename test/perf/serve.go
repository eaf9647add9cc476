package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// serveRuns alternating runs of serveRequests each; the first of each
	// program warms it and does not count.
	serveRuns     = 25
	serveRequests = 2000
)

// program is one thing to measure: a server process and the request it gets.
type program struct {
	name    string
	child   *child
	request []byte
	cost    []float64 // microseconds of CPU per request, a run each
	mallocs []float64
}

// run sends one run's requests and notes what they cost the server.
func (p *program) run(ctx context.Context, count bool) error {
	before, err := p.child.ask(askUsage)
	if err != nil {
		return err
	}
	if err := hammer(ctx, p.child.addr, p.request, echoed, serveRequests); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	after, err := p.child.ask(askUsage)
	if err != nil {
		return err
	}
	if count {
		p.cost = append(p.cost, float64(after.CPU-before.CPU)/float64(time.Microsecond)/serveRequests)
		p.mallocs = append(p.mallocs, float64(after.Mallocs-before.Mallocs)/serveRequests)
	}
	return nil
}

// against adds the row of p's cost as a multiple of floor's. The ratio is the
// median over runs that lie next to each other in time.
func (p *program) against(floor *program, t *table, what string, bar float64) {
	ratios := make([]float64, len(p.cost))
	for i := range p.cost {
		ratios[i] = p.cost[i] / floor.cost[i]
	}
	t.add(result{
		what: what, figure: median(ratios), bar: bar, unit: " ×",
		detail: fmt.Sprintf("%.1f µs, %.0f allocations; %s %.1f µs, %.0f", median(p.cost), median(p.mallocs), floor.name, median(floor.cost), median(floor.mallocs)),
	})
}

// serveRows compares tool calls served by us with an echo.
func serveRows(ctx context.Context, t *table) (err error) {
	var children []*child
	defer func() {
		for _, c := range children {
			err = errors.Join(err, c.stop())
		}
	}()
	begin := func(role string) (*child, error) {
		c, err := start(ctx, role)
		if err == nil {
			children = append(children, c)
		}
		return c, err
	}
	floorJSON, err := begin(roleFloorJSON)
	if err != nil {
		return err
	}
	floorSSE, err := begin(roleFloorSSE)
	if err != nil {
		return err
	}
	ours, err := begin(roleServer)
	if err != nil {
		return err
	}
	typed, err := begin(roleTyped)
	if err != nil {
		return err
	}
	session, err := openSession(ctx, ours.addr)
	if err != nil {
		return err
	}
	typedSession, err := openSession(ctx, typed.addr)
	if err != nil {
		return err
	}
	var (
		echo      = &program{name: "echo", child: floorJSON, request: legacyCall(floorJSON.addr, "", acceptJSON)}
		echoEvent = &program{name: "SSE echo", child: floorSSE, request: legacyCall(floorSSE.addr, "", acceptSSE)}
		legacy    = &program{name: "legacy", child: ours, request: legacyCall(ours.addr, session, acceptBoth)}
		event     = &program{name: "event", child: ours, request: legacyCall(ours.addr, session, acceptSSE)}
		modern    = &program{name: "modern", child: ours, request: modernCall(ours.addr, acceptBoth)}
		bound     = &program{name: "typed", child: typed, request: legacyCall(typed.addr, typedSession, acceptBoth)}
	)
	programs := []*program{echo, legacy, modern, echoEvent, event, bound}
	for i := range serveRuns + 1 {
		for _, p := range programs {
			if err := p.run(ctx, i > 0); err != nil {
				return err
			}
		}
	}
	legacy.against(echo, t, "serve tools/call, JSON", 1.5)
	event.against(echoEvent, t, "serve tools/call, SSE", 1.7)
	modern.against(legacy, t, "2026-07-28 against 2025-11-25", 1.15)
	bound.against(echo, t, "serve a typed tool, JSON", noBar)
	return nil
}
