package stdio

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/sidecar/agent"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// Defaults of Config.
const (
	DefaultHold       = 30 * time.Second
	DefaultEvictAfter = 60 * time.Second
	DefaultMaxWaiting = 256
	defaultIdle       = 10 * time.Minute
	defaultStartup    = 30 * time.Second
)

// Config describes a Pool. Starter and MaxProcesses are required; zero values
// of the rest mean the defaults.
type Config struct {
	Starter Starter
	// Model is how processes relate to clients [PerSession].
	Model Model
	// AcrossPrincipals lets people who are known by name share the process of
	// model Shared; without it they are refused (R23).
	AcrossPrincipals bool
	// Recreate lets a session outlive its process: its next request starts
	// another and brings it to where the last one was (P15). Sessions of model
	// Shared always do.
	Recreate bool
	// Roots are what the process of model Shared is told when it asks for roots.
	Roots []Root
	// MaxProcesses bounds the processes of this pod, those that are being
	// ended included.
	MaxProcesses int
	// Era is how the workload is spoken to, where that is configured (B1.1);
	// "" finds out.
	Era upstream.Era
	// Revision is the one that the workload is configured to speak.
	Revision upstream.Fixed
	// First is the key whose process readiness asks and keeps: clients of that
	// key find it started.
	First upstream.Key
	// Idle ends a process with nothing in flight and no client listening
	// (P15).
	Idle time.Duration
	// Startup bounds one process from its start to the end of its handshake.
	Startup time.Duration
	// MaxMessageBytes bounds one line of the workload.
	MaxMessageBytes int
	// Hold is how long a request waits for room, or for a workload that is
	// not there (P1).
	Hold time.Duration
	// EvictAfter is how long a process must have been idle to give way.
	EvictAfter time.Duration
	// MaxWaiting bounds the requests that wait for room.
	MaxWaiting int
	// Budget bounds what the sidecar buffers; nil means no bound.
	Budget peer.Budget
	Hooks  Hooks
}

// End is the closed set of reasons for which a process ended.
type End string

// The reasons.
const (
	EndSession  End = "session" // its session ended
	EndIdle     End = "idle"
	EndEvicted  End = "evicted"
	EndCrashed  End = "crashed" // by itself, or it stopped reading
	EndHung     End = "hung"    // calls waited for it, and it gave no sign of life
	EndStartup  End = "startup" // it never finished its handshake
	EndShutdown End = "shutdown"
	EndProbe    End = "probe" // it was started to find out the era (P19)
	EndSpare    End = "spare" // it ended before anybody wanted it (R23)
)

// Hooks observe a Pool. Nil members are skipped; they must not block.
type Hooks struct {
	// Started tells how long a process took to its handshake, or why it did
	// not get there.
	Started func(took time.Duration, err error)
	// Ended tells that a process is gone.
	Ended func(why End, exit agent.Exit)
	// Held tells how long a request waited for room; false if in vain.
	Held func(waited time.Duration, served bool)
	// Recreated tells that a session's process was started again, or could not
	// be (P15, B3.8).
	Recreated func(err error)
	// Refused tells what was kept from clients of a shared process because
	// nobody can say whose it is.
	Refused func(what Refusal)
	// Peer observes each process's messages.
	Peer peer.Hooks
}

// Pool runs the processes of one workload; see New. All methods may be called
// concurrently. Whoever makes it calls Shutdown.
type Pool struct {
	cfg    Config
	ctx    context.Context // until Shutdown
	cancel context.CancelCauseFunc
	start  upstream.Backoff // handshakes that failed
	crash  upstream.Backoff // shared processes that died young
	era    upstream.Verdict
	talk   talker
	hub    *hub // model Shared, else nil
	loop   loop
	lively lively
	stuck  atomic.Bool // see unwell

	mu        sync.Mutex
	procs     map[*process]struct{}
	reserved  int // slots given to processes that are not in procs yet
	waiting   []*waiter
	retry     *time.Timer // looks again for somebody to evict
	instances map[upstream.Key]*instance
	modern    *instance // the process of the conversation
	lasting   map[*lasting]struct{}
	spares    spares
	closed    bool
	gone      sync.WaitGroup
}

// New makes a Pool. It starts nothing.
func New(cfg Config) *Pool {
	def := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	def(&cfg.Idle, defaultIdle)
	def(&cfg.Startup, defaultStartup)
	def(&cfg.Hold, DefaultHold)
	def(&cfg.EvictAfter, DefaultEvictAfter)
	if cfg.MaxWaiting <= 0 {
		cfg.MaxWaiting = DefaultMaxWaiting
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	p := &Pool{
		cfg:       cfg,
		ctx:       ctx,
		cancel:    cancel,
		start:     upstream.Backoff{First: 100 * time.Millisecond, Most: 15 * time.Second},
		crash:     upstream.Backoff{First: 100 * time.Millisecond, Most: 5 * time.Second},
		procs:     map[*process]struct{}{},
		instances: map[upstream.Key]*instance{},
		lasting:   map[*lasting]struct{}{},
	}
	p.spares.pause.First, p.spares.pause.Most = time.Second, 30*time.Second
	if cfg.Model == Shared {
		p.hub = newHub(p)
	}
	p.era.Fixed, p.era.Find = cfg.Era, p.findEra
	p.talk.pool = p
	return p
}

// OpenSession makes the leg of one client session: a process of its own that
// it shakes hands with as the client would, or a place at the shared one. It
// waits up to Hold for room. Errors: upstream.ErrBusy, upstream.ErrClosed,
// upstream.ErrNotShared, *upstream.HandshakeError, or ctx's cause.
func (p *Pool) OpenSession(ctx context.Context, r upstream.SessionRequest) (upstream.Leg, error) {
	if err := p.admit(r.Principal); err != nil {
		return nil, err
	}
	if p.hub != nil {
		return p.hub.join(ctx, r)
	}
	r.Params = p.cfg.Revision.Offer(r.Params)
	if p.cfg.Recreate {
		return p.openLasting(ctx, r)
	}
	proc, err := p.launch(ctx, p.cfg.Hold, launch{
		params:    r.Params,
		handler:   r.Handler,
		listening: r.Listening,
		ended:     r.Ended,
		startup:   p.cfg.Startup,
	})
	if err != nil {
		return nil, err
	}
	return proc, nil
}

// Check reports whether processes can be expected to start.
func (p *Pool) Check(ctx context.Context) error {
	if err := p.cfg.Starter.Check(ctx); err != nil {
		return explainStart(err)
	}
	if err := p.unwell(); err != nil {
		return err
	}
	if err := p.mute(); err != nil {
		return err
	}
	return p.looping()
}

// Processes is how many processes there are, those being ended included.
func (p *Pool) Processes() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.procs) + len(p.spares.waiting)
}

// Shutdown refuses new legs, lets each process finish what is in flight (C11)
// until ctx ends, ends all and returns when they are gone or ctx is over by
// as much as the agent needs to end them.
func (p *Pool) Shutdown(ctx context.Context) {
	p.mu.Lock()
	p.closed = true
	procs := make([]*process, 0, len(p.procs))
	for proc := range p.procs {
		procs = append(procs, proc)
	}
	for _, w := range p.waiting {
		w.done <- upstream.ErrClosed
	}
	p.waiting = nil
	if p.retry != nil {
		p.retry.Stop()
	}
	spares := p.spares.waiting
	p.spares.waiting = nil
	lasting := slices.Collect(maps.Keys(p.lasting))
	p.mu.Unlock()
	p.cancel(upstream.ErrClosed)
	var wg sync.WaitGroup
	wg.Go(func() { p.endSpares(spares) })
	for _, proc := range procs {
		wg.Go(func() {
			proc.quiet(ctx)
			proc.finish(EndShutdown, upstream.ErrClosed)
		})
	}
	wg.Wait()
	for _, l := range lasting {
		l.end(upstream.ErrClosed, true)
	}
	if p.hub != nil {
		p.hub.shutdown()
	}
	p.gone.Wait()
}
