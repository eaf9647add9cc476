package main

import (
	"context"
	"errors"
	"os"
)

const (
	// bridgeConns requests are in flight in the rows of the bridge.
	bridgeConns = 16

	// A round takes each program a second and more: what it costs to get going
	// after the others had the machine is not what a request costs.
	passRounds    = 9
	passRequests  = 10_000
	stdioRounds   = 9
	stdioRequests = 12_000
	// foreignShare: so many times fewer requests for the bridges of others, of
	// which each takes so much longer.
	foreignShare = 8
)

// Bars of the bridge.
const (
	passBar  = 1.35
	eraBar   = 1.35
	allocBar = 130
	pipeBar  = 4
)

// passRows compares the sidecar in front of a workload that speaks HTTP with
// the null pass-through in front of the same.
func passRows(ctx context.Context, t *table) (err error) {
	f := &fleet{ctx: ctx}
	defer func() { err = errors.Join(err, f.stop()) }()
	binary, clean, err := buildSidecar(ctx)
	if err != nil {
		return err
	}
	defer clean()
	var (
		legacy = side{role: roleLegacy}
		modern = side{role: roleModern}
	)
	for _, s := range []*side{&legacy, &modern} {
		if err := s.start(f, binary); err != nil {
			return err
		}
	}
	sessions := make(map[string]string)
	for _, addr := range []string{legacy.null.addr, legacy.reverse.addr, legacy.sidecar.addr} {
		if sessions[addr], err = openSession(ctx, addr); err != nil {
			return err
		}
	}
	call := func(addr string) []byte { return legacyCall(addr, sessions[addr], acceptBoth) }
	var (
		nullLegacy = programOf("null pass-through", legacy.null, call(legacy.null.addr))
		reverse    = programOf("httputil.ReverseProxy", legacy.reverse, call(legacy.reverse.addr))
		oursLegacy = legacy.sidecar.program("legacy on legacy", call(legacy.sidecar.addr))
		across     = legacy.sidecar.program("modern on legacy", modernCall(legacy.sidecar.addr))
		nullModern = programOf("null pass-through", modern.null, modernCall(modern.null.addr))
		oursModern = modern.sidecar.program("modern on modern", modernCall(modern.sidecar.addr))
	)
	programs := []*program{nullLegacy, oursLegacy, across, reverse, nullModern, oursModern}
	for _, p := range programs {
		p.conns = bridgeConns
	}
	if err := cycle(ctx, programs, passRounds, passRequests); err != nil {
		return err
	}
	oursLegacy.against(nullLegacy, t, "HTTP to HTTP, legacy client and workload", passBar)
	oursModern.against(nullModern, t, "HTTP to HTTP, modern client and workload", passBar)
	across.against(oursLegacy, t, "HTTP to HTTP, modern client of a legacy workload against a legacy one", eraBar)
	reverse.against(nullLegacy, t, "HTTP to HTTP, httputil.ReverseProxy", noBar)
	for _, p := range []*program{oursLegacy, oursModern} {
		t.add(result{what: "HTTP to HTTP, " + p.name, figure: median(p.mallocs), bar: allocBar, unit: " allocations"})
	}
	return nil
}

// side is a workload of one era and what stands in front of it.
type side struct {
	role                    string
	workload, null, reverse *child
	sidecar                 *sidecar
}

func (s *side) start(f *fleet, binary string) (err error) {
	if s.workload, err = f.child(s.role); err != nil {
		return err
	}
	url := "http://" + s.workload.addr + "/mcp"
	if s.null, err = f.child(roleNullPass); err != nil {
		return err
	}
	if s.reverse, err = f.child(roleReverse); err != nil {
		return err
	}
	for c, target := range map[*child]string{s.null: url, s.reverse: "http://" + s.workload.addr} {
		if _, err := c.ask(askPeer + " " + target); err != nil {
			return err
		}
	}
	s.sidecar, err = f.sidecar(binary, "--http", url)
	return err
}

// buildSidecar compiles the product into a folder that clean removes.
func buildSidecar(ctx context.Context) (binary string, clean func(), err error) {
	dir, err := os.MkdirTemp("", "perf-")
	if err != nil {
		return "", nil, err
	}
	clean = func() { _ = os.RemoveAll(dir) }
	if binary, err = build(ctx, ".", "./sidecar/cmd/mcp-sidecar", dir); err != nil {
		clean()
	}
	return binary, clean, err
}
