// Package lapse tells things that a time has passed, for very many of which
// nearly all are over long before: requests with their deadlines. Those that
// wait for the same length of time stand in line, and one timer serves the
// line, so that to set and to stop an alarm costs no timer each.
//
// It owns the lines. It must not know what waits.
package lapse

import (
	"sync"
	"time"
)

// Ringer is told that its time has passed, on a goroutine of its own.
type Ringer interface{ Ring() }

// Clock keeps alarms. The zero value is ready. All methods may be called
// concurrently. It holds a line per length of time that is in use.
type Clock struct {
	mu    sync.Mutex
	lines map[time.Duration]*line
}

// Alarm is one thing that waits. The zero value is no alarm; it may not be
// copied once it is set, and is set once.
type Alarm struct {
	ringer     Ringer
	due        time.Time
	line       *line // nil: not set, stopped, or it has rung
	prev, next *Alarm
}

// line is what waits for the same length of time, the first due in front.
type line struct {
	length      time.Duration
	first, last *Alarm
	timer       *time.Timer
}

// Set has r told when d has passed since now.
func (c *Clock) Set(a *Alarm, now time.Time, d time.Duration, r Ringer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.lines[d]
	if l == nil {
		l = &line{length: d}
		if c.lines == nil {
			c.lines = map[time.Duration]*line{}
		}
		c.lines[d] = l
		l.timer = time.AfterFunc(d, func() { c.ring(l) })
	}
	a.ringer, a.due, a.line = r, now.Add(d), l
	if a.prev = l.last; a.prev != nil {
		a.prev.next = a
	} else {
		l.first = a
	}
	l.last = a
}

// Stop keeps an alarm from ringing; it reports false where it is not set, or
// has rung.
func (c *Clock) Stop(a *Alarm) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a.line == nil {
		return false
	}
	a.leave()
	return true
}

// leave takes the alarm out of its line; mu is held. The line's timer stays as
// it is: when it goes off it looks who is in front.
func (a *Alarm) leave() {
	l := a.line
	if a.prev != nil {
		a.prev.next = a.next
	} else {
		l.first = a.next
	}
	if a.next != nil {
		a.next.prev = a.prev
	} else {
		l.last = a.prev
	}
	a.line, a.prev, a.next, a.ringer = nil, nil, nil, nil
}

// ring tells those of a line that are due, and gives an empty line up.
func (c *Clock) ring(l *line) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for now := time.Now(); l.first != nil; {
		left := l.first.due.Sub(now)
		if left > 0 {
			l.timer.Reset(left)
			return
		}
		r := l.first.ringer
		l.first.leave()
		go r.Ring()
	}
	delete(c.lines, l.length)
}
