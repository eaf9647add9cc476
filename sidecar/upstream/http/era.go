package http

import (
	"context"
	"errors"
	"time"

	"github.com/fairlead-dev/fairlead/sidecar/config"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// silence is how long a workload may leave server/discover unanswered before
// it is tried with initialize (B1.2, W5.16); and how long one that speaks the
// modern era may take to say whether it knows the legacy one too.
const silence = 5 * time.Second

// Era is how the workload is spoken to. Until that is known it asks, and waits
// up to Hold for a workload that is not there.
func (w *Workload) Era(ctx context.Context) (upstream.Era, error) {
	if era := w.era.Known(); era != "" {
		return era, nil
	}
	deadline := time.Now().Add(w.cfg.Hold)
	for {
		era, err := w.era.Era(ctx)
		if err == nil || !retry(ctx, err, deadline) {
			return era, err
		}
	}
}

// Handshake says who the workload is, and finds out its era first. It does not
// wait for a workload that is not there.
func (w *Workload) Handshake(ctx context.Context) (upstream.Info, error) {
	era, err := w.era.Era(ctx)
	if err != nil {
		return upstream.Info{}, err
	}
	startup := w.cfg.Startup
	if deadline, ok := ctx.Deadline(); ok {
		startup = min(startup, time.Until(deadline)*9/10) // ours first: it can be explained
	}
	if !era.Modern() {
		return w.greet(ctx, startup)
	}
	d, err := w.talk.meet(ctx, startup)
	if err != nil {
		return upstream.Info{}, err
	}
	return d.Info(era), nil
}

// findEra asks with server/discover and then with initialize, on one
// connection after the other (B1.2, B1.3).
func (w *Workload) findEra() (upstream.Era, error) {
	ctx, stop := context.WithTimeoutCause(w.talk.ctx, w.cfg.Startup, errSilent)
	defer stop()
	_, err := w.talk.ask(ctx, min(silence, w.cfg.Startup))
	switch {
	case err == nil:
		if w.knowsSessions(ctx) {
			return upstream.EraDual, nil
		}
		return upstream.EraModern, nil
	case errors.Is(err, upstream.ErrNoRevision):
		return "", &upstream.HandshakeError{Reason: config.ReasonBadHandshake, Err: err}
	case errors.Is(err, errSilent) && ctx.Err() == nil:
		// Some servers say nothing to what they do not know.
	case !errors.Is(err, upstream.ErrNotModern):
		return "", w.reason(ctx, err)
	}
	lease, err := w.instance(ctx, w.cfg.First, 0, w.cfg.Startup)
	if h := new(upstream.HandshakeError); errors.Is(err, errSilent) && !errors.As(err, &h) {
		return "", explain(err) // our own clock was first
	}
	if err != nil {
		return "", err
	}
	lease.Release()
	return upstream.EraLegacy, nil
}

// reason words a failure that says nothing about the era; it is asked again.
func (w *Workload) reason(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, errSilent) {
		return cause
	}
	return explain(err)
}

// knowsSessions tries initialize on a workload of the modern era (B1.7).
func (w *Workload) knowsSessions(ctx context.Context) bool {
	l := &leg{w: w, params: upstream.InitializeParams(upstream.Key{}), handler: upstream.ByCall{}}
	c, _, err := l.shake(ctx, min(silence, w.cfg.Startup))
	if err != nil {
		return false
	}
	w.finish(c, errors.New("the workload's era has been found out"))
	return true
}
