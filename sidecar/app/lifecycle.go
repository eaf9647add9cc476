package app

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/sidecar/hook"
)

// Run serves until stop ends (SIGTERM) and a drain has gone through, or until
// a part that must not end has ended, which is the error.
//
// There are two lifecycles. The public port drains first: its states are those
// of sidecar/drain. Admin, metrics and hooks stay up until everything else has
// ended, so that the kubelet, the operator and the hooks always get an answer.
func (a *App) Run(stop context.Context) error {
	floor := heapFloor(debug.SetMemoryLimit(-1))
	defer runtime.KeepAlive(floor)
	background, end := context.WithCancel(context.Background())
	var parts sync.WaitGroup
	defer parts.Wait()
	defer end()
	failed := make(chan error, 8) // one per part below; none is ever blocked

	for _, p := range a.ports() {
		parts.Go(func() {
			if err := p.serve(); err != nil {
				failed <- err
			}
		})
	}
	parts.Go(func() { a.heart.Run(background) })
	parts.Go(func() { a.live.Run(background) })
	if a.keys != nil {
		parts.Go(func() { a.keys.Run(background) })
	}
	parts.Go(func() { _ = a.drainer.Run(background) })
	parts.Go(func() { a.monitor.Run(background) })
	if a.cfg.HookSocket != "" {
		parts.Go(func() {
			if err := a.hooks().Serve(background, a.cfg.HookSocket); err != nil {
				failed <- fmt.Errorf("hook socket: %w", err)
			}
		})
	}
	a.started.Store(true)

	err := a.wait(stop, failed)
	a.closeDown()
	return err
}

// wait returns when the drain is over and somebody wants the process to end.
func (a *App) wait(stop context.Context, failed <-chan error) error {
	select {
	case <-stop.Done():
		a.drainer.Begin("SIGTERM") // no news after a preStop hook
	case err := <-failed:
		return err
	}
	select {
	case <-a.drainer.Drained():
		return nil
	case err := <-failed:
		return err
	}
}

// closeDown ends the parts in order, within Ending all in all.
func (a *App) closeDown() {
	share := a.cfg.Ending / 5
	a.drainer.Close()
	ctx, cancel := context.WithTimeout(context.Background(), share)
	_ = a.front.Shutdown(ctx, dispatch.ErrShutdown) // whoever is left is cut
	cancel()
	a.public.close(share)

	ctx, cancel = context.WithTimeout(context.Background(), 2*share)
	a.backend.Close(ctx)
	cancel()
	a.cfg.Log.Info("ended")
	for _, p := range a.ports() {
		if p != a.public {
			p.close(min(share/2, 500*time.Millisecond))
		}
	}
}

func (a *App) hooks() *hook.Server {
	return &hook.Server{
		Drain:            a.drainer.Begin,
		Draining:         a.drainer.Draining(),
		Drained:          a.drainer.Drained(),
		WorkloadStopping: a.workloadStopping,
		Observe:          a.hookEnded,
	}
}
