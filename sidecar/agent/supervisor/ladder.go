package supervisor

import (
	"time"

	"golang.org/x/sys/unix"
)

// killAgain is the pause between KILLs to a process that does not die: it
// waits for a disk or a network, and new members of its group may have come.
const killAgain = time.Second

// ladder is the way from a closed stdin to KILL (W18.7). The zero value has
// not begun. Not for concurrent use.
type ladder struct {
	term, kill time.Time
	termed     bool
	alarm      *time.Timer
}

// begin starts the ladder at the time now. If it has begun, whichever step is
// earlier stands: more reasons to end a process never give it more time.
func (l *ladder) begin(now time.Time, g grace) {
	term := now.Add(g.stdin)
	kill := term.Add(g.term)
	if l.alarm != nil {
		term = earlier(l.term, term)
		kill = earlier(l.kill, kill)
		l.alarm.Stop()
	}
	l.term, l.kill = term, kill
	next := l.term
	if l.termed {
		next = l.kill
	}
	l.alarm = time.NewTimer(next.Sub(now))
}

// timer fires when the next step is due; nil, and so never, before begin.
func (l *ladder) timer() <-chan time.Time {
	if l.alarm == nil {
		return nil
	}
	return l.alarm.C
}

// next returns the signal that is due and arms the timer for the one after.
func (l *ladder) next(now time.Time) unix.Signal {
	if !l.termed {
		l.termed = true
		l.alarm.Reset(l.kill.Sub(now))
		return unix.SIGTERM
	}
	l.alarm.Reset(killAgain)
	return unix.SIGKILL
}

// end disarms the timer.
func (l *ladder) end() {
	if l.alarm != nil {
		l.alarm.Stop()
	}
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
