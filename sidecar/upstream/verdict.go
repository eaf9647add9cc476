package upstream

import (
	"context"
	"sync"
	"time"
)

// doubtEvery spaces what a workload can make us do by contradicting itself.
const doubtEvery = time.Minute

// Verdict keeps what was found out about a workload's era for as long as the
// workload lives or until it contradicts it (B1.5, P19). All methods may be
// called concurrently.
type Verdict struct {
	// Fixed is configured and wins over everything (B1.1); "": find out.
	Fixed Era
	// Find finds out. One runs at a time, and outlives who asked; it bounds
	// itself.
	Find func() (Era, error)

	mu      sync.Mutex
	era     Era // "" while unknown
	doubted time.Time
	now     *finding
}

// finding is a Find that runs.
type finding struct {
	done chan struct{}
	era  Era
	err  error
}

// Known is the era without finding out; "" if it is unknown.
func (v *Verdict) Known() Era {
	if v.Fixed != "" {
		return v.Fixed
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.era
}

// Era is the era; if it is unknown, whoever asks first finds out for all. The
// error is Find's or ctx's cause.
func (v *Verdict) Era(ctx context.Context) (Era, error) {
	if era := v.Known(); era != "" {
		return era, nil
	}
	v.mu.Lock()
	if v.era != "" {
		defer v.mu.Unlock()
		return v.era, nil
	}
	f := v.now
	if f == nil {
		f = &finding{done: make(chan struct{})}
		v.now = f
		go v.find(f)
	}
	v.mu.Unlock()
	select {
	case <-f.done:
		return f.era, f.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

func (v *Verdict) find(f *finding) {
	f.era, f.err = v.Find()
	v.mu.Lock()
	v.now = nil
	if f.err == nil {
		v.era = f.era
	}
	v.mu.Unlock()
	close(f.done)
}

// Doubt notes that the workload has behaved as one of another era, so that the
// next one to ask finds out anew. It reports whether that is so: not when the
// era is configured, and once in a while only.
func (v *Verdict) Doubt() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.Fixed != "" || v.era == "" || !v.doubted.IsZero() && time.Since(v.doubted) < doubtEvery {
		return false
	}
	v.era, v.doubted = "", time.Now()
	return true
}
