package main

import (
	"context"
	"os"
)

// directPipe is the workload of the rows over stdio with nothing before it.
func (f *fleet) directPipe() (*program, error) {
	c, err := f.child(roleDirect)
	if err != nil {
		return nil, err
	}
	pipe := programOf("direct pipe", c, nil)
	pipe.work = sendDirect(c, bridgeConns)
	return pipe, nil
}

// onStdio starts the sidecar in front of that workload, and opens a session.
func (f *fleet) onStdio(binary string, options ...string) (s *sidecar, session string, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, "", err
	}
	if s, err = f.sidecar(binary, append(options, "--stdio", "--", self, "-lines")...); err != nil {
		return nil, "", err
	}
	session, err = openSession(f.ctx, s.addr)
	return s, session, err
}

// stdioCycle runs programs that have the workload as their child.
func stdioCycle(ctx context.Context, programs []*program) error {
	for _, p := range programs {
		p.conns, p.tree = bridgeConns, true
	}
	return cycle(ctx, programs, stdioRounds, stdioRequests)
}

// wholeAgainst is against, of both with their children.
func (p *program) wholeAgainst(floor *program, t *table, what string, bar float64) {
	t.add(result{what: what, figure: ratio(p.whole, floor.whole), bar: bar, unit: " ×", detail: p.told() + "; " + floor.name + " " + floor.told()})
}
