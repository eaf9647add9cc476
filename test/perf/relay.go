package main

import (
	"context"
	"errors"
	"os"
)

// relayBar is that of streams which are copied over the agent's socket, where
// that of pipes that are passed is pipeBar (P11).
const relayBar = 5.5

// relayRows compares the sidecar in front of a workload on stdio, once with the
// workload's pipes passed to it and once with their bytes relayed, with the
// pipe alone.
func relayRows(ctx context.Context, t *table) (err error) {
	f := &fleet{ctx: ctx}
	defer func() { err = errors.Join(err, f.stop()) }()
	binary, clean, err := buildSidecar(ctx)
	if err != nil {
		return err
	}
	defer clean()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	direct, err := f.child(roleDirect)
	if err != nil {
		return err
	}
	pipe := programOf("direct pipe", direct, nil)
	pipe.work = sendDirect(direct, bridgeConns)
	programs := []*program{pipe}
	for _, way := range []struct {
		name string
		args []string
	}{
		{"pipes passed", nil},
		{"streams relayed", []string{"--test-relay"}},
	} {
		ours, err := f.sidecar(binary, append(way.args, "--stdio", "--", self, "-lines")...)
		if err != nil {
			return err
		}
		session, err := openSession(ctx, ours.addr)
		if err != nil {
			return err
		}
		programs = append(programs, ours.program(way.name, legacyCall(ours.addr, session, acceptBoth)))
	}
	for _, p := range programs {
		p.conns, p.tree = bridgeConns, true
	}
	if err := cycle(ctx, programs, stdioRounds, stdioRequests); err != nil {
		return err
	}
	passed, relayed := programs[1], programs[2]
	t.add(result{what: "HTTP to stdio over the relay against the pipe alone, both with the workload", figure: ratio(relayed.whole, pipe.whole), bar: relayBar, unit: " ×",
		detail: relayed.told() + "; " + pipe.name + " " + pipe.told()})
	t.add(result{what: "HTTP to stdio, streams relayed against pipes passed, both with the workload", figure: ratio(relayed.whole, passed.whole), bar: relayBar / pipeBar, unit: " ×",
		detail: relayed.told() + "; " + passed.name + " " + passed.told()})
	return nil
}
