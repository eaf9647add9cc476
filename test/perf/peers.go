package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// stdioRows compares the sidecar in front of a workload on stdio with the null
// bridge, with the pipe alone and with bridges of others, all in front of the
// same workload. What counts is the CPU time of the bridge without its child,
// which costs the same behind each of them.
func stdioRows(ctx context.Context, t *table) (err error) {
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
	null, err := f.child(roleNullBridge)
	if err != nil {
		return err
	}
	pipe, err := f.directPipe()
	if err != nil {
		return err
	}
	ours, session, err := f.onStdio(binary)
	if err != nil {
		return err
	}
	var (
		bridge = programOf("null bridge", null, legacyCall(null.addr, "", acceptBoth))
		legacy = ours.program("legacy on stdio", legacyCall(ours.addr, session, acceptBoth))
		modern = ours.program("modern on stdio", modernCall(ours.addr))
	)
	foreign, err := startOthers(f, filepath.Dir(binary), self)
	if err != nil {
		return err
	}
	programs := []*program{bridge, legacy, modern, pipe}
	for _, p := range foreign {
		p.program.share = foreignShare
		programs = append(programs, p.program)
	}
	if err := stdioCycle(ctx, programs); err != nil {
		return err
	}
	legacy.against(bridge, t, "HTTP to stdio", passBar)
	legacy.wholeAgainst(bridge, t, "HTTP to stdio, both with the workload", noBar)
	legacy.wholeAgainst(pipe, t, "HTTP to stdio against the pipe alone, both with the workload", pipeBar)
	modern.against(legacy, t, "HTTP to stdio, a modern client against a legacy one", eraBar)
	for _, p := range foreign {
		t.add(result{what: p.name + " against ours, on stdio", figure: ratio(p.cost, legacy.cost), bar: p.least, atLeast: true, unit: " ×",
			detail: fmt.Sprintf("%s; ours %s; against the null bridge %.4g ×", p.told(), legacy.told(), ratio(p.cost, bridge.cost))})
	}
	return nil
}
