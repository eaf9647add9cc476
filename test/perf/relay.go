package main

import (
	"context"
	"errors"
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
	pipe, err := f.directPipe()
	if err != nil {
		return err
	}
	programs := []*program{pipe}
	for _, way := range []struct {
		name string
		args []string
	}{
		{"pipes passed", nil},
		{"streams relayed", []string{"--test-relay"}},
	} {
		ours, session, err := f.onStdio(binary, way.args...)
		if err != nil {
			return err
		}
		programs = append(programs, ours.program(way.name, legacyCall(ours.addr, session, acceptBoth)))
	}
	if err := stdioCycle(ctx, programs); err != nil {
		return err
	}
	passed, relayed := programs[1], programs[2]
	relayed.wholeAgainst(pipe, t, "HTTP to stdio over the relay against the pipe alone, both with the workload", relayBar)
	relayed.wholeAgainst(passed, t, "HTTP to stdio, streams relayed against pipes passed, both with the workload", relayBar/pipeBar)
	return nil
}
