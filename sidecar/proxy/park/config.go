package park

import (
	"time"

	"github.com/fairlead-dev/fairlead/runtime/seal"
)

// Limits bound exchanges (B7.16, B18). Zero values mean the defaults.
type Limits struct {
	// PerOwner [16] and Total [256] bound the exchanges that wait for clients.
	PerOwner, Total int
	// Rounds [32] bounds how often one exchange asks.
	Rounds int
	// Round [10 min] is how long the client has for one round, Life [30 min]
	// for all of them.
	Round, Life time.Duration
	// Grace [30 s] is how long a retry that was lost may be repeated (P20).
	Grace time.Duration
	// Gather [25 ms] is how long questions are collected for one round (B7.1).
	Gather time.Duration
}

func (l Limits) filled() Limits {
	number := func(n *int, otherwise int) {
		if *n <= 0 {
			*n = otherwise
		}
	}
	clock := func(d *time.Duration, otherwise time.Duration) {
		if *d <= 0 {
			*d = otherwise
		}
	}
	number(&l.PerOwner, 16)
	number(&l.Total, 256)
	number(&l.Rounds, 32)
	clock(&l.Round, 10*time.Minute)
	clock(&l.Life, 30*time.Minute)
	clock(&l.Grace, 30*time.Second)
	clock(&l.Gather, 25*time.Millisecond)
	return l
}

// End is the closed set of ways in which a parked exchange ends.
type End string

// The ways.
const (
	EndDone       End = "done"       // the workload's answer was fetched
	EndExpired    End = "expired"    // the client did not come back in time
	EndGone       End = "gone"       // the client left while it waited
	EndLimit      End = "limit"      // a bound was reached
	EndCapability End = "capability" // the client no longer takes such questions
	EndClosed     End = "closed"     // this process stops
)

// Config describes a Store. Keys is required.
type Config struct {
	Keys *seal.Keyring
	// Pod is written into states, so that any pod knows whose they are.
	Pod    string
	Limits Limits
	Hooks  Hooks
}

// Hooks observe a Store. Nil members are skipped; they must not block.
type Hooks struct {
	// Parked counts exchanges that begin (+1) and cease (-1) to wait for their
	// clients.
	Parked func(delta int)
	// Ended tells how one ended that had been parked, or could not be.
	Ended func(End)
	// Attached counts retries that were repeated and found their claim (P20).
	Attached func()
}
