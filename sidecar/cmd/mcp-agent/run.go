package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fairlead-dev/fairlead/sidecar/agent/supervisor"
	"github.com/fairlead-dev/fairlead/sidecar/socket"
)

// logGrace bounds the wait for a container log that does not keep up.
const logGrace = 200 * time.Millisecond

func run(args []string, stderr io.Writer) int {
	fs := newFlags("run", stderr)
	path := fs.String("socket", defaultAgentSocket, "unix socket to listen on")
	max := fs.Int("max-processes", supervisor.DefaultMaxProcesses, "processes at once, those being ended included")
	termination := fs.Duration("termination", supervisor.DefaultTermination, "from SIGTERM to the exit of this program, children ended")
	relay := fs.Bool("relay", false, "copy the streams of processes over the socket rather than pass their pipes")
	exec := fs.Bool("exec", false, "let the sidecar name other commands than COMMAND")
	if status, ok := parse(fs, args); !ok {
		return status
	}
	switch {
	case fs.NArg() == 0 || fs.Arg(0) == "":
		return fail(stderr, exitUsage, "run needs a COMMAND after --")
	case *max < 1:
		return fail(stderr, exitUsage, "--max-processes must be at least 1")
	case *termination < time.Second:
		return fail(stderr, exitUsage, "--termination must be at least 1s")
	}
	// Whatever the container runtime left open is not for our children (E5).
	// Older kernels do not know the call; the runtimes close their own.
	_ = unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC)

	ctx, stop := termSignal()
	defer stop()
	l, err := socket.Listen(*path)
	if err != nil {
		return fail(stderr, exitFailed, "run: %v", err)
	}
	log := supervisor.NewLog(stderr)
	defer log.Close(logGrace)
	s := &supervisor.Supervisor{
		Command:      fs.Args(),
		AllowArgv:    *exec,
		Env:          os.Environ(),
		MaxProcesses: *max,
		Termination:  *termination,
		Relay:        *relay,
		Log:          log,
	}
	log.Printf("listens on %s for %.200q", *path, fs.Arg(0))
	if err := s.Serve(ctx, l); err != nil {
		log.Printf("run: %v", err)
		return exitFailed
	}
	return exitOK
}

// termSignal returns a context that ends with SIGTERM or SIGINT. SIGPIPE and
// SIGHUP are caught and forgotten: a container log that is gone must not end
// us, and a signal that is ignored instead would stay ignored in every child.
func termSignal() (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	forgotten := make(chan os.Signal, 1)
	signal.Notify(forgotten, syscall.SIGPIPE, syscall.SIGHUP)
	go func() {
		select {
		case <-signals:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}
