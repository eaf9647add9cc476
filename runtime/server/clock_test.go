package server

import (
	"testing"
	"testing/synctest"
	"time"
)

// P33.10: in one process the wall clock does not matter, between two it may be
// a minute off.
func TestAges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, other := newClock(), newClock()
		made := c.now()
		set := made
		set.Wall += (2 * time.Hour).Milliseconds() // the wall clock was set back meanwhile
		for _, m := range []moment{made, set} {
			if c.past(m, time.Minute) {
				t.Errorf("%+v is past at once", m)
			}
		}
		if other.past(made, time.Minute) {
			t.Error("past for the other at once")
		}
		time.Sleep(time.Minute + time.Second)
		for _, m := range []moment{made, set} {
			if !c.past(m, time.Minute) {
				t.Errorf("%+v is not past", m)
			}
		}
		if other.past(made, time.Minute) {
			t.Error("past for the other, whose clock may be behind")
		}
		time.Sleep(time.Minute)
		if !other.past(made, time.Minute) {
			t.Error("never past for the other")
		}
	})
}
