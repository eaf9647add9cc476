package app

import (
	"context"

	"github.com/fairlead-dev/fairlead/sidecar/config"
	"github.com/fairlead-dev/fairlead/sidecar/drain"
	"github.com/fairlead-dev/fairlead/sidecar/hook"
	"github.com/fairlead-dev/fairlead/sidecar/live"
	"github.com/fairlead-dev/fairlead/sidecar/observe"
)

// What a part reports goes to the log, the metrics, and the parts it concerns.
// None of these may block.

func (a *App) workloadChanged(s config.WorkloadStatus, err error) {
	a.metrics.Workload(s)
	if a.cfg.Workload != nil {
		defer a.cfg.Workload(s, err) // once the gate is as it says
	}
	if s.State == config.WorkloadUp {
		a.gate.Open()
		a.cfg.Log.Info("workload is ready", "era", s.Era, "revision", observe.Untrusted(s.Revision),
			"name", observe.Untrusted(s.Name), "version", observe.Untrusted(s.Version), "exposed", s.Exposed)
		return
	}
	a.gate.Close()
	attrs := []any{"state", s.State, "reason", s.Reason}
	if s.ExitCode != nil {
		attrs = append(attrs, "exitCode", *s.ExitCode)
	}
	if err != nil {
		// The error may hold the workload's words.
		attrs = append(attrs, "error", observe.Untrusted(err.Error()))
	}
	a.cfg.Log.Warn("workload is not ready", attrs...)
}

func (a *App) liveChanged(now *live.Contract, err error) {
	if err != nil {
		a.metrics.LiveError()
		a.cfg.Log.Error("live contract cannot be used, the last good one stays in force", "error", err.Error(), "have", now != nil)
		return
	}
	a.cfg.Log.Info("live contract in force", "digest", now.Digest)
}

func (a *App) keysChanged(ids []string, sealWith string, err error) {
	if err != nil {
		a.metrics.KeyError()
		a.cfg.Log.Error("key Secret cannot be used, the last good keys stay in use", "error", err.Error(), "ids", ids)
		return
	}
	a.cfg.Log.Info("keys loaded", "ids", ids, "sealWith", sealWith)
}

func (a *App) drainChanged(s drain.State, cause string, inFlight int) {
	a.metrics.Draining()
	a.cfg.Log.Info("drain", "state", s.String(), "cause", cause, "inFlight", inFlight)
}

// closeIdle ends connections that have been idle throughout the drain, so that
// their clients open new ones, elsewhere, instead of being refused here.
func (a *App) closeIdle() { a.public.server.SetKeepAlivesEnabled(false) }

func (a *App) hookEnded(kind hook.Kind, outcome hook.Outcome) {
	a.metrics.Hook(string(kind), string(outcome))
	a.cfg.Log.Info("hook", "kind", kind, "outcome", outcome)
}

// workloadStopping answers the workload's own preStop hook when the pod is not
// ending (O3): nothing new goes to it, and what runs has until ctx ends.
func (a *App) workloadStopping(ctx context.Context) {
	a.monitor.Suspend()
	a.gate.Idle(ctx)
}
