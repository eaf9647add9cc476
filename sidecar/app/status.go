package app

import (
	"net/http"
	"strings"

	"github.com/fairlead-dev/fairlead/sidecar/admin"
	"github.com/fairlead-dev/fairlead/sidecar/config"
)

func (a *App) adminHandler() http.Handler {
	answers := a.answers()
	if !a.cfg.Collect {
		return answers
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == pathCollect {
			_, _ = w.Write(collect()) // who has gone needs no answer
			return
		}
		answers.ServeHTTP(w, r)
	})
}

func (a *App) answers() http.Handler {
	return admin.Handler(admin.Source{
		Live:    a.heart.Beats,
		Ready:   a.notReady,
		Started: a.notStarted,
		Status:  a.status,
	})
}

// notStarted knows the sidecar's own listeners and nothing of the workload: a
// startup probe that waited for it would wait for ever (O2).
func (a *App) notStarted() string {
	if !a.started.Load() {
		return "listeners are not open yet"
	}
	return ""
}

// missing says what the sidecar itself still needs before it can serve.
func (a *App) missing() string {
	var why []string
	if a.live.Current() == nil {
		why = append(why, "no live contract yet: "+a.live.Fault())
	}
	if a.keys != nil && !a.ring.Loaded() {
		why = append(why, "no keys yet: "+a.keys.Status().Error)
	}
	return strings.Join(why, "; ")
}

// notReady is empty iff a handshake holds and no drain has begun.
func (a *App) notReady() string {
	if a.draining() {
		return "draining"
	}
	if why := a.missing(); why != "" {
		return why
	}
	switch s := a.monitor.Status(); s.State {
	case config.WorkloadUp:
		return ""
	case config.WorkloadFailed:
		return "workload failed: " + s.Reason
	default:
		return "waiting for the workload"
	}
}

func (a *App) draining() bool {
	select {
	case <-a.drainer.Draining():
		return true
	default:
		return false
	}
}

func (a *App) status() config.Status {
	active, _ := a.gate.Counts()
	s := config.Status{
		PodUID:    a.cfg.PodUID,
		BootHash:  a.cfg.BootHash,
		LiveError: a.live.Fault(),
		Draining:  a.draining(),
		Ready:     a.notReady() == "",
		Workload:  a.monitor.Status(),
		Counts: config.Counts{
			Sessions:  a.front.Sessions(),
			Active:    active,
			Streams:   a.front.Streams(),
			Processes: a.backend.Processes(),
		},
	}
	s.Workload.Relayed = a.metrics.Relayed()
	if now := a.live.Current(); now != nil {
		s.ContractVersion, s.LiveDigest = now.Version, now.Digest
	}
	if a.keys != nil {
		s.Keys = a.keys.Status()
	}
	return s
}
