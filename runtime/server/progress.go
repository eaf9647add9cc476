package server

import (
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/internal/broken"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// ErrProgress is progress that does not rise, or is no number (W20.3).
var ErrProgress = errors.New("progress must rise")

type progress struct {
	begun bool
	over  bool
	last  float64
	rate  bucket
}

// Progress tells the client how far the request is; total 0 is unknown, and
// message may be empty. It does nothing when the client asked for none, and a
// client that cannot be told does not hear it. done must rise from call to call,
// else ErrProgress. A handler that reports very often is thinned out (W20.5), the
// last step (done = total) never.
func (c *Context) Progress(done, total float64, text string) error {
	if c.task != nil && text != "" {
		c.task.Status(text)
	}
	token := c.x.ProgressToken()
	if token == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	p := &c.progress
	if p.over || c.Err() != nil {
		return nil // not active any more: a late step is nobody's fault
	}
	if (unfit(done) || unfit(total) || (p.begun && done <= p.last)) && !broken.Rule("W20.3") {
		return ErrProgress
	}
	p.begun, p.last = true, done
	if !p.rate.take() && (total <= 0 || done < total) {
		c.s.opt.Observer.Drop(hook.DropFlood)
		return nil
	}
	b := append([]byte(`{"progressToken":`), token...)
	b = strconv.AppendFloat(append(b, `,"progress":`...), done, 'f', -1, 64)
	if total > 0 {
		b = strconv.AppendFloat(append(b, `,"total":`...), total, 'f', -1, 64)
	}
	if text != "" && c.x.Profile().ProgressMessage {
		b = strictjson.Quote(append(b, `,"message":`...), text)
	}
	// Sent under the lock: two steps must not overtake one another.
	// What does not arrive is counted where it is lost.
	_ = c.send(mcp.NotifyProgress, append(b, '}'))
	return nil
}

func unfit(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }

// bucket thins out what a handler sends: bursts pass, a flood is cut to a
// rate that no stream's outbox overflows from (P18).
type bucket struct {
	tokens float64
	at     time.Time
}

const (
	bucketBurst = 64
	bucketRate  = 100 // a second
)

func (b *bucket) take() bool {
	now := time.Now()
	if b.at.IsZero() {
		b.tokens = bucketBurst
	} else {
		b.tokens = min(bucketBurst, b.tokens+now.Sub(b.at).Seconds()*bucketRate)
	}
	b.at = now
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}
