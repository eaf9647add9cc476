package laptop

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/fairlead-dev/fairlead/sidecar/app"
	"github.com/fairlead-dev/fairlead/sidecar/config"
	"github.com/fairlead-dev/fairlead/sidecar/drain"
)

const (
	// drainSeconds is how long requests may still take after Ctrl-C.
	drainSeconds = 10
	// patience is how long nothing is said of a start that takes its time.
	patience = 5 * time.Second
)

// Run serves the workload until ctx ends, and no process is left when it
// returns. Errors: *UsageError; *WorkloadError when the workload never shook
// hands; others when this program could not do its part.
func Run(ctx context.Context, o Options) error {
	workload, err := o.workload()
	if err != nil {
		return err
	}
	boot := config.Boot{
		Version:          config.BootVersion,
		Server:           config.ServerRef{Namespace: "local", Name: "local", UID: "local"},
		Workload:         workload,
		ClientRoots:      o.ClientRoots,
		Clocks:           config.NewClocks(drainSeconds),
		ContractVersions: config.ContractVersions(),
	}
	_, hash, err := config.EncodeBoot(boot)
	if err != nil {
		return &UsageError{err.Error()}
	}
	c := app.ForBoot(boot, hash)
	c.PodUID = "local"
	c.Public, c.Admin, c.Metrics = o.Listen, o.Admin, o.Metrics
	c.LiveDir, c.KeysDir, c.HookSocket, c.AgentSocket = "", "", "", ""
	live := config.DefaultLive()
	live.Protocol.HTTPSSE = o.HTTPSSE
	c.Live = &live
	// No endpoints have to move, and nobody else takes over.
	c.Drain = drain.Clocks{Drain: c.Drain.Drain}
	c.Log = o.Log
	held := &stderr{to: o.Notes, open: o.Verbose}
	w := newWatch()
	c.Workload = w.changed
	var agent *localAgent
	if len(o.Command) > 0 {
		if agent, err = o.startAgent(held); err != nil {
			return err
		}
		defer agent.stop()
		c.AgentSocket = agent.socket
		var stop context.CancelFunc
		ctx, stop = context.WithCancel(ctx)
		defer stop()
		go func() {
			<-agent.done
			stop()
		}()
	}
	a, err := app.New(c, app.Proxy)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%s %w", o.Listen, errInUse)
	}
	if err != nil {
		return err
	}
	if err := o.serve(ctx, a, w, held); err != nil || agent == nil || !agent.ended() {
		return err
	}
	return errAgentEnded
}

// serve runs the app and tells what becomes of the workload.
func (o *Options) serve(ctx context.Context, a *app.App, w *watch, held *stderr) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var failure error // of the workload; read once told has ended
	var told sync.WaitGroup
	told.Go(func() {
		if failure = o.start(ctx, a.Address(), w, held); failure != nil {
			stop()
			return
		}
		o.follow(ctx, w)
	})
	err := a.Run(ctx)
	stop()
	told.Wait()
	if failure != nil {
		return failure
	}
	return err
}

// start waits for the first handshake and shows the screen. It returns nil when
// ctx ends first.
func (o *Options) start(ctx context.Context, address string, w *watch, held *stderr) error {
	deadline := time.NewTimer(o.startup())
	defer deadline.Stop()
	slow := time.NewTimer(patience)
	defer slow.Stop()
	late := false
	for {
		now := w.now()
		switch {
		case now.status.State == config.WorkloadUp:
			o.show(ctx, "http://"+address+config.DefaultMCPPath, now.status)
			o.warn(address)
			held.release()
			return nil
		case o.final(now.status), late && now.status.State == config.WorkloadFailed:
			return o.explain(now.status, now.err, held.last(lastWords))
		}
		select {
		case <-w.news:
		case <-slow.C:
			o.waiting()
		case <-deadline.C:
			// One that runs ends by a clock of its own, with better words.
			late = true
		case <-ctx.Done():
			return nil
		}
	}
}

func (o *Options) waiting() {
	hint := ""
	if fetches(o.Command) {
		hint = "; " + o.Command[0] + " may be fetching it"
	}
	fmt.Fprintf(o.Notes, "waiting for %s to answer, up to %v%s\n", o.what(), o.startup(), hint)
}

// warn tells of an address that others can reach: nobody is asked who they are.
func (o *Options) warn(address string) {
	if host, _, err := net.SplitHostPort(address); err == nil && !loopback(host) {
		fmt.Fprintf(o.Notes, "%s can be reached from other machines, and nobody there is asked who they are\n", address)
	}
}

// follow tells when the workload goes and comes back.
func (o *Options) follow(ctx context.Context, w *watch) {
	was := config.WorkloadUp
	for {
		select {
		case <-w.news:
		case <-ctx.Done():
			return
		}
		now := w.now()
		if now.status.State == was {
			continue
		}
		was = now.status.State
		switch was {
		case config.WorkloadUp:
			fmt.Fprintln(o.Notes, "the workload is back")
		case config.WorkloadFailed:
			fmt.Fprintf(o.Notes, "the workload is gone; requests wait for it: %s\n", o.problem(now.status, now.err))
		}
	}
}

// watch keeps the workload's present state for whoever waits for news.
type watch struct {
	news chan struct{} // has room for one: more say nothing more

	mu    sync.Mutex
	state state
}

type state struct {
	status config.WorkloadStatus
	err    error
}

func newWatch() *watch { return &watch{news: make(chan struct{}, 1)} }

func (w *watch) changed(s config.WorkloadStatus, err error) {
	w.mu.Lock()
	w.state = state{s, err}
	w.mu.Unlock()
	select {
	case w.news <- struct{}{}:
	default:
	}
}

func (w *watch) now() state {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state
}
