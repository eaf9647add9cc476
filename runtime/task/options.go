package task

import (
	"time"

	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/seal"
)

// Defaults of Options (B18, R22).
const (
	DefaultTTL         = time.Hour
	DefaultMinTTL      = time.Second
	DefaultPoll        = time.Second
	DefaultPerOwner    = 100
	DefaultTotal       = 10_000
	DefaultRunning     = 1_000
	DefaultResultBytes = 1 << 20
	DefaultInputs      = 16
	DefaultInputBytes  = 256 << 10
	DefaultSweep       = 30 * time.Second
	DefaultRefresh     = 5 * time.Second
	DefaultStatusEvery = time.Second
	DefaultStore       = 2 * time.Second
	DefaultPage        = 50
)

// MaxMessage bounds a status message, in bytes; longer ones are cut.
const MaxMessage = 1024

// Options of an Engine. Zero fields mean what their comments say.
type Options struct {
	// Store keeps the tasks; nil means a Memory of the engine's own.
	Store Store
	// Notifier wakes who waits; nil means a Local, which is enough as long as
	// no other process uses the Store.
	Notifier Notifier
	// Keys seal task ids and cursors; nil means a random key of this process.
	Keys *seal.Keyring
	// Pod is put into task ids, for who must find the process that runs one.
	Pod string
	// Runner tells this process from others, and from itself before a
	// restart; empty means a random one.
	Runner string
	// Now is the clock that times in records come from; nil means time.Now.
	// Timers are those of package time, whatever it says.
	Now func() time.Time

	// DefaultTTL is granted to who asks for none [1 h]; other wishes are
	// brought between MinTTL [1 s] and MaxTTL [1 h, or DefaultTTL].
	DefaultTTL, MinTTL, MaxTTL time.Duration
	// Poll is how often clients are told to ask [1 s].
	Poll time.Duration
	// PerOwner [100] and Total [10,000] bound the tasks in the store, those
	// that are over included. Running [1,000] bounds those that run in this
	// process, work that does not heed its cancelled context included.
	PerOwner, Total, Running int
	// ResultBytes bounds an outcome [1 MiB]; a larger one fails the task.
	ResultBytes int
	// Inputs bounds the questions of one task that wait [16], InputBytes one
	// question and one answer [256 KiB].
	Inputs, InputBytes int

	// Lease is how long the runner of a task is believed to be alive without
	// a word, skew of clocks included; its tasks then fail (B12.16). 0 means
	// for ever: right for a store that ends with the process.
	Lease time.Duration
	// Sweep is how often expired tasks are deleted [30 s].
	Sweep time.Duration
	// Refresh is how often who waits looks again without having been woken:
	// [5 s] with a Store of its own, with the default one never.
	Refresh time.Duration
	// StatusEvery is the least time between two status messages of one task
	// that are written [1 s]; of those in between the newest counts.
	StatusEvery time.Duration
	// StoreTimeout bounds one operation of the Store [2 s]; with the default
	// Store there is none.
	StoreTimeout time.Duration

	Observer *hook.Observer
}

func (o Options) withDefaults() Options {
	own := o.Store == nil
	if own {
		o.Store = &Memory{}
	}
	if o.Notifier == nil {
		o.Notifier = &Local{}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	orDuration(&o.MinTTL, DefaultMinTTL)
	orDuration(&o.MaxTTL, max(DefaultTTL, o.DefaultTTL, o.MinTTL))
	orDuration(&o.DefaultTTL, DefaultTTL)
	o.DefaultTTL = min(max(o.DefaultTTL, o.MinTTL), o.MaxTTL)
	orDuration(&o.Poll, DefaultPoll)
	orInt(&o.PerOwner, DefaultPerOwner)
	orInt(&o.Total, DefaultTotal)
	orInt(&o.Running, DefaultRunning)
	orInt(&o.ResultBytes, DefaultResultBytes)
	orInt(&o.Inputs, DefaultInputs)
	orInt(&o.InputBytes, DefaultInputBytes)
	orDuration(&o.Sweep, DefaultSweep)
	orDuration(&o.StatusEvery, DefaultStatusEvery)
	if !own {
		orDuration(&o.Refresh, DefaultRefresh)
		orDuration(&o.StoreTimeout, DefaultStore)
	}
	return o
}

func orDuration(v *time.Duration, otherwise time.Duration) {
	if *v <= 0 {
		*v = otherwise
	}
}

func orInt(v *int, otherwise int) {
	if *v <= 0 {
		*v = otherwise
	}
}
