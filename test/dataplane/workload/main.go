// Command workload is a small MCP server with a handshake for the tests of the
// data plane: on its standard streams or over streamable HTTP, with tools that
// make one thing happen each, and with faults.
//
//	workload stdio [flags]
//	workload http --port N [flags]
package main

import (
	"flag"
	"fmt"
	"os"
)

type options struct {
	port    int
	address string
	// Faults.
	exit    int
	garbage bool
	silent  bool
	deaf    bool
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: workload stdio|http [flags]")
		os.Exit(2)
	}
	var o options
	fs := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	fs.IntVar(&o.port, "port", 0, "port to listen on")
	fs.StringVar(&o.address, "address", "127.0.0.1", "address to listen on")
	fs.IntVar(&o.exit, "exit", -1, "exit with this code at once")
	fs.BoolVar(&o.garbage, "garbage", false, "greet on stdout before the protocol")
	fs.BoolVar(&o.silent, "silent", false, "read, never answer")
	fs.BoolVar(&o.deaf, "deaf", false, "run, but listen on no port")
	_ = fs.Parse(os.Args[2:])
	if o.exit >= 0 {
		fmt.Fprintln(os.Stderr, "the workload cannot find its configuration")
		os.Exit(o.exit)
	}
	var err error
	switch os.Args[1] {
	case "stdio":
		err = serveStdio(o)
	case "http":
		err = serveHTTP(o)
	default:
		err = fmt.Errorf("unknown mode %q", os.Args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "workload:", err)
		os.Exit(1)
	}
}
