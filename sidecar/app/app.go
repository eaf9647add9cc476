package app

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/stream"
	"github.com/fairlead-dev/fairlead/runtime/transport/streamable"
	"github.com/fairlead-dev/fairlead/sidecar/admin"
	"github.com/fairlead-dev/fairlead/sidecar/config"
	"github.com/fairlead-dev/fairlead/sidecar/drain"
	"github.com/fairlead-dev/fairlead/sidecar/health"
	"github.com/fairlead-dev/fairlead/sidecar/hold"
	"github.com/fairlead-dev/fairlead/sidecar/keys"
	"github.com/fairlead-dev/fairlead/sidecar/live"
	"github.com/fairlead-dev/fairlead/sidecar/observe"
)

// Backend is what stands behind the front.
type Backend interface {
	dispatch.Server
	health.Workload
	// ParamSchema finds the inputSchema of a tool whose arguments are repeated
	// in headers (streamable.Server).
	ParamSchema(tool string) (schema []byte, ok bool)
	// Life names the present life of the workload (health.Monitor).
	Life() string
	// Processes tells how many processes run.
	Processes() int
	// Spares tells how many of them wait for their first client.
	Spares() int
	// Remembered is how much is, by what it is.
	Remembered() map[string]int
	// Close ends every leg and process, and waits for them until ctx ends.
	Close(ctx context.Context)
}

// MakeBackend makes the backend of an App; m is where it reports.
type MakeBackend func(c Config, m *observe.Metrics) (Backend, error)

// How long and how many requests wait for the workload (P1: holdSeconds).
const (
	holdTime = 30 * time.Second
	maxHeld  = 1024
)

// App is one sidecar. Make it with New and Run it once.
type App struct {
	cfg     Config
	metrics *observe.Metrics
	ring    *seal.Keyring
	keys    *keys.Loader // nil: an ephemeral key
	live    *live.Store
	gate    *hold.Gate
	backend Backend
	front   *streamable.Server
	monitor *health.Monitor
	drainer *drain.Drainer
	heart   *admin.Heart

	public, admin, scrape *port
	started               atomic.Bool
	reserved              int // by reserve
}

// New assembles an App and opens its listeners, so that the addresses are
// known. The error names everything that is wrong.
func New(c Config, makeBackend MakeBackend) (*App, error) {
	a := &App{cfg: c, ring: &seal.Keyring{Server: c.Boot.Server.UID}, gate: hold.New(maxHeld, holdTime)}
	if c.Collect {
		a.reserved = reserve()
	}
	a.metrics = observe.New(Version(), observe.Sources{
		Sessions:    func() int { return a.front.Sessions() },
		Processes:   func() int { return a.backend.Processes() },
		Spares:      func() int { return a.backend.Spares() },
		InFlight:    func() int { return a.drainer.InFlight() },
		Held:        func() int { _, held := a.gate.Counts(); return held },
		Connections: func() int { return a.public.connections() },
		HeapFloor:   func() int { return int(floorBytes(debug.SetMemoryLimit(-1))) + a.reserved },
		Remembered:  a.remembered,
	})
	front := a.metrics.Front(observe.NewAccessLog(c.Log))
	c.Budget = &stream.Budget{Max: budgetBytes(), Observer: front}
	c.Keys = a.ring
	backend, err := makeBackend(c, a.metrics)
	if err != nil {
		return nil, err
	}
	a.backend = backend
	if err := errors.Join(a.useKeys(), a.useLive()); err != nil {
		return nil, err
	}
	a.front = &streamable.Server{
		Handler:     &held{next: backend, gate: a.gate},
		Keys:        a.ring,
		Pod:         c.PodUID,
		Epoch:       uint64(time.Now().UnixNano()),
		HTTPSSE:     true, // unless the settings say no
		Settings:    a.settings,
		Budget:      c.Budget,
		Observer:    front,
		ParamSchema: backend.ParamSchema,
	}
	a.drainer = drain.New(drain.Options{
		Clocks:  c.Drain,
		Stop:    a.front.Drain,
		Cut:     a.front.Cut,
		Last:    a.closeIdle,
		Observe: a.drainChanged,
	})
	a.monitor = &health.Monitor{
		Workload: backend,
		Clocks:   health.NewClocks(attempt(startup(c.Boot.Workload))),
		Life:     backend.Life,
		Exposed:  exposed(c),
		Changed:  a.workloadChanged,
	}
	a.heart = admin.NewHeart(
		func() { a.gate.Counts() },
		func() { a.front.Sessions() },
	)
	return a, a.listen()
}

func (a *App) remembered() map[string]int {
	all := a.backend.Remembered()
	all["session_ids"] = a.ring.Remembered()
	return all
}

func (a *App) useKeys() error {
	if a.cfg.KeysDir == "" {
		return a.ring.LoadEphemeral()
	}
	a.keys = &keys.Loader{Dir: a.cfg.KeysDir, Ring: a.ring, Observe: a.keysChanged}
	return nil
}

func (a *App) useLive() (err error) {
	if a.cfg.LiveDir == "" {
		fixed := config.DefaultLive()
		if a.cfg.Live != nil {
			fixed = *a.cfg.Live
		}
		a.live, err = live.Fixed(fixed)
		return err
	}
	a.live = &live.Store{Dir: a.cfg.LiveDir, Changed: a.liveChanged}
	return nil
}

// listen opens every port, or none and says what is wrong with each.
func (a *App) listen() error {
	open := func(p **port, name, address string, most int, s *http.Server) (err error) {
		if address == "" {
			return nil
		}
		*p, err = listen(name, address, most, s, a.cfg.Log)
		return err
	}
	scrape := http.NewServeMux()
	scrape.Handle("GET /metrics", promhttp.HandlerFor(a.metrics.Gatherer(), promhttp.HandlerOpts{
		MaxRequestsInFlight: 4,
		Timeout:             8 * time.Second,
		ErrorLog:            slog.NewLogLogger(a.cfg.Log.Handler(), slog.LevelWarn),
	}))
	public := publicServer(a.publicHandler())
	if l := a.cfg.public; l != nil {
		a.public = serving("public", l, maxConnections, public, a.cfg.Log)
	}
	err := errors.Join(
		open(&a.public, "public", a.cfg.Public, maxConnections, public),
		open(&a.admin, "admin", a.cfg.Admin, maxAdmin, plainServer(a.adminHandler())),
		open(&a.scrape, "metrics", a.cfg.Metrics, maxAdmin, plainServer(scrape)),
	)
	if err != nil {
		for _, p := range a.ports() {
			_ = p.listener.Close()
		}
		return err
	}
	for _, p := range a.ports() {
		a.cfg.Log.Info("listening", "port", p.name, "address", p.listener.Addr().String())
	}
	return nil
}

func (a *App) ports() (all []*port) {
	for _, p := range []*port{a.public, a.admin, a.scrape} {
		if p != nil {
			all = append(all, p)
		}
	}
	return all
}

// Address is where the public port listens.
func (a *App) Address() string { return a.public.listener.Addr().String() }

// settings are the endpoint's, from the live contract in force. The chain lets
// nothing through before there is one.
func (a *App) settings() streamable.Settings {
	now := a.live.Current()
	if now == nil {
		return streamable.Settings{}
	}
	return streamable.Settings{
		Revisions:      now.Protocol.Revisions,
		NoHTTPSSE:      !now.Protocol.HTTPSSE,
		MaxBodyBytes:   now.Limits.MaxBodyBytes,
		RequestTimeout: seconds(now.Limits.RequestSeconds),
		KeepAlive:      seconds(now.Limits.KeepAliveSeconds),
		MaxConcurrent:  now.Limits.MaxConcurrentCalls,
		AllowedOrigins: now.Network.AllowedOrigins,
	}
}

// startup is how long the workload may take for one handshake.
func startup(w config.Workload) time.Duration {
	if w.Stdio != nil {
		return seconds(w.Stdio.StartupSeconds)
	}
	return seconds(config.DefaultStartupSeconds)
}

// attempt is how long the monitor waits for a handshake. The upstream's own
// clock knows better what went wrong, so this one is a little longer.
func attempt(startup time.Duration) time.Duration { return startup + startup/8 + time.Second }

func exposed(c Config) func(context.Context) bool {
	if c.Boot.Workload.MCP == nil {
		return nil
	}
	return health.Exposed(c.PodIP, c.Boot.Workload.MCP.Port)
}
