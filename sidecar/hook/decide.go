package hook

import (
	"context"
	"sync"
	"time"
)

// decide does what a hook asks for and returns when the kubelet may go on.
// ctx ends when the hook goes away.
func (s *Server) decide(ctx context.Context, kind Kind) Outcome {
	if kind == KindSidecar {
		s.Drain("preStop")
		return s.drained(ctx)
	}
	alone := time.NewTimer(or(s.RestartAfter, DefaultRestartAfter))
	defer alone.Stop()
	select {
	case <-s.Draining:
		return s.drained(ctx)
	case <-ctx.Done():
		return OutcomeGone
	case <-alone.C:
		return s.restart(ctx)
	}
}

// restart lets the calls of a workload that is about to be restarted end. On a
// busy node our own hook may come later than RestartAfter; then the pod ends
// after all.
func (s *Server) restart(ctx context.Context) Outcome {
	stopping, cancel := context.WithTimeout(ctx, or(s.RestartWait, DefaultRestartWait))
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	settled := make(chan struct{})
	wg.Go(func() {
		defer close(settled)
		s.WorkloadStopping(stopping)
	})
	select {
	case <-s.Draining:
		return s.drained(ctx)
	case <-settled:
	case <-stopping.Done():
	}
	select {
	case <-s.Draining:
		return s.drained(ctx)
	case <-ctx.Done():
		return OutcomeGone
	default:
		return OutcomeRestart
	}
}

func (s *Server) drained(ctx context.Context) Outcome {
	select {
	case <-s.Drained:
	case <-ctx.Done():
		select {
		case <-s.Drained: // and the sidecar is on its way out
		default:
			return OutcomeGone
		}
	}
	return OutcomeDrained
}

func or(d, def time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return def
}
