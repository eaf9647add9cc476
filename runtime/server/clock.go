package server

import (
	"crypto/rand"
	"time"
)

// skew is how far the clocks of servers that stand for one another may differ.
const skew = time.Minute

// clock tells how old something is that this server, or one that stands for it,
// has sealed. In one process the monotonic clock counts, so that a wall clock
// that is set makes nothing end early or come back.
type clock struct {
	born  time.Time
	epoch string
}

func newClock() clock { return clock{born: time.Now(), epoch: rand.Text()[:8]} }

// moment is when something was made.
type moment struct {
	Epoch string `json:"e"`
	// Age of the process, and the wall clock, in milliseconds.
	Age  int64 `json:"o"`
	Wall int64 `json:"w"`
}

func (c clock) now() moment {
	now := time.Now()
	return moment{Epoch: c.epoch, Age: now.Sub(c.born).Milliseconds(), Wall: now.UnixMilli()}
}

// past reports whether a time has passed since a moment.
func (c clock) past(m moment, ttl time.Duration) bool {
	now := c.now()
	if m.Epoch == c.epoch {
		return now.Age-m.Age > ttl.Milliseconds()
	}
	return now.Wall-m.Wall > (ttl + skew).Milliseconds()
}
