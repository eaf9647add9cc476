package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/task"
	"github.com/fairlead-dev/fairlead/sidecar/agent"
	"github.com/fairlead-dev/fairlead/sidecar/config"
	"github.com/fairlead-dev/fairlead/sidecar/health"
	"github.com/fairlead-dev/fairlead/sidecar/observe"
	"github.com/fairlead-dev/fairlead/sidecar/proxy"
	"github.com/fairlead-dev/fairlead/sidecar/proxy/park"
	"github.com/fairlead-dev/fairlead/sidecar/proxy/repair"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
	"github.com/fairlead-dev/fairlead/sidecar/upstream/http"
	"github.com/fairlead-dev/fairlead/sidecar/upstream/stdio"
)

// workload is what both kinds of upstream offer.
type workload interface {
	proxy.Workload
	Handshake(ctx context.Context) (upstream.Info, error)
	Check(ctx context.Context) error
	Shutdown(ctx context.Context)
}

// proxied is the Backend of the product: the proxy in front of a workload.
type proxied struct {
	*proxy.Proxy
	workload  workload
	processes func() int
	spares    func() int
	socket    string // of the agent; empty for a workload without one
	tasks     *task.Engine

	mu   sync.Mutex
	last health.Peer // who answered the last handshake
}

// Proxy is the MakeBackend of the product.
func Proxy(c Config, m *observe.Metrics) (Backend, error) {
	log := observe.NewLimited(c.Log)
	none := func() int { return 0 }
	b := &proxied{processes: none, spares: none}
	binding := mcp.Streamable
	switch w := c.Boot.Workload; w.Type {
	case config.WorkloadStdio:
		pool := newPool(c, *w.Stdio, m, log)
		b.workload, b.processes, b.spares, b.socket, binding = pool, pool.Processes, pool.Spares, c.AgentSocket, mcp.Stdio
	case config.WorkloadMCP:
		b.workload = http.New(http.Config{
			Port:     w.MCP.Port,
			Path:     w.MCP.Path,
			Era:      upstream.Fixed(w.MCP.Revision).Era(),
			Revision: upstream.Fixed(w.MCP.Revision),
			First:    firstKey(c),
			Hold:     holdTime,
			Startup:  startup(w),
			Budget:   c.Budget,
			Hooks: http.Hooks{
				Renewed: func(err error) { m.SessionRenewed(err == nil) },
				Closes: func() {
					log.Warn("the workload closes connections that are kept for later; from now on each request gets one of its own")
				},
				Peer: peerHooks(m, log),
			},
		})
	default:
		return nil, errors.New("unknown type of workload")
	}
	var err error
	if b.tasks, err = newTasks(c, m); err != nil {
		return nil, err
	}
	b.Proxy = proxy.New(proxy.Config{
		Tasks:    b.tasks,
		Promote:  proxy.DefaultPromote,
		Workload: b.workload,
		Name:     c.Boot.Server.Name,
		Keys:     c.Keys,
		Pod:      c.PodUID,
		Roots:    c.Boot.ClientRoots,
		Leasing:  leasingOf(c.Boot.Workload),
		Parking:  parkingFor(c.Keep),
		Hooks:    proxyHooks(binding.String(), m, log),
	})
	return b, nil
}

// leasingOf is when a call has a leg to itself. A session with a workload over
// HTTP is one that proved to need it: what is asked there mostly comes on the
// call's own stream (B6.1). The one process of model Shared nobody has to
// himself, and it was told that nobody can be asked (R23).
func leasingOf(w config.Workload) proxy.Leasing {
	switch {
	case w.Stdio == nil:
		return proxy.LeaseAuto
	case w.Stdio.ProcessModel == config.ProcessShared:
		return proxy.LeaseNever
	}
	return proxy.Leasing(w.Stdio.Leasing)
}

func newPool(c Config, s config.Stdio, m *observe.Metrics, log *observe.Limited) *stdio.Pool {
	starter := c.starter
	if starter == nil {
		starter = stdio.Agent{Dialer: agent.Dialer{Socket: c.AgentSocket, Started: streamsTold(m, c.Log)}}
	}
	return stdio.New(stdio.Config{
		Starter:          starter,
		Model:            stdio.Model(s.ProcessModel),
		AcrossPrincipals: s.SharedAcrossPrincipals == config.SharedAllow,
		Recreate:         s.OnIdle == config.OnIdleRecreate,
		Roots:            rootsOf(c.Boot.Roots),
		MaxProcesses:     s.MaxProcesses,
		Era:              upstream.Fixed(s.Revision).Era(),
		Revision:         upstream.Fixed(s.Revision),
		First:            firstKey(c),
		Idle:             seconds(s.IdleSeconds),
		Startup:          seconds(s.StartupSeconds),
		MaxMessageBytes:  s.MaxMessageBytes,
		Hold:             holdTime,
		Budget:           c.Budget,
		Hooks: stdio.Hooks{
			Started: func(took time.Duration, err error) {
				reason := ""
				if err != nil {
					reason = failureOf(err).Reason
				}
				if reason != "" && reason != config.ReasonAgentUnreachable { // health tells of an absent agent, once
					log.Warn("a process did not start", slog.String("reason", reason), slog.Any("error", observe.Untrusted(err.Error())))
				}
				m.ProcessStarted(took, reason)
			},
			Ended: func(why stdio.End, exit agent.Exit) {
				m.ProcessEnded(string(why))
				switch why {
				case stdio.EndCrashed:
					log.Warn("a process ended by itself", slog.Int("exitCode", exit.Code), slog.String("signal", exit.Signal))
				case stdio.EndHung:
					log.Warn("a process did not answer any more and was ended")
				}
			},
			Recreated: func(err error) { m.ProcessRecreated(err == nil) },
			Refused:   func(what stdio.Refusal) { m.WorkloadDropped(string(what)) },
			Peer:      peerHooks(m, log),
		},
	})
}

// streamsTold counts the ways of streams, and says once that they are relayed:
// nothing is wrong, but it costs (P11).
func streamsTold(m *observe.Metrics, log *slog.Logger) func(relayed bool) {
	var once sync.Once
	return func(relayed bool) {
		m.ProcessStreams(relayed)
		if relayed {
			once.Do(func() {
				log.Info("the workload's pipes cannot be passed: their bytes are relayed over the agent's socket")
			})
		}
	}
}

// firstKey is that of the client that takes everything: the inventory is read
// with it, and most clients are like it (P7).
func firstKey(c Config) upstream.Key {
	return upstream.Key{Capabilities: proxy.WidestFingerprint(c.Boot.ClientRoots)}
}

func rootsOf(roots []config.Root) (out []stdio.Root) {
	for _, r := range roots {
		out = append(out, stdio.Root{URI: r.URI, Name: r.Name})
	}
	return out
}

func peerHooks(m *observe.Metrics, log *observe.Limited) peer.Hooks {
	return peer.Hooks{
		Dropped: func(d peer.Drop) { m.WorkloadDropped(string(d)) },
		Noise: func(excerpt string) {
			log.Warn("the workload wrote what is not the protocol", slog.Any("text", observe.Untrusted(excerpt)))
		},
		StringID: func() { m.Repaired("string_id") },
		Panicked: func(value any, stack []byte) {
			m.Panicked()
			log.Warn("a panic while the workload was heard", slog.Any("panic", value), slog.String("stack", string(stack)))
		},
	}
}

func proxyHooks(binding string, m *observe.Metrics, log *observe.Limited) proxy.Hooks {
	return proxy.Hooks{
		Called: func(method string, took time.Duration, failure string) {
			m.ClientOperation(hook.Operation{Method: method, Binding: binding}, hook.End{ErrorType: failure, Duration: took})
		},
		Tools: func(names []string, _ bool) { m.Tools.Learn(names...) },
		Repaired: func(method string, kind repair.Kind, item string) {
			m.Repaired(string(kind))
			log.Warn("an answer of the workload was repaired", slog.String("method", method), slog.String("kind", string(kind)),
				slog.Any("item", observe.Untrusted(item)))
		},
		Lossy:      m.WorkloadDropped,
		Attributed: func(how proxy.Attribution) { m.Attributed(string(how)) },
		Parking: park.Hooks{
			Parked:   m.Parked,
			Ended:    func(why park.End) { m.ParkedEnded(string(why)) },
			Attached: func() { m.ParkedEnded("repeated") },
		},
	}
}

// Processes implements Backend.
func (b *proxied) Processes() int { return b.processes() }

// Spares implements Backend.
func (b *proxied) Spares() int { return b.spares() }

// Life implements Backend. An agent makes its socket when it starts, so the
// socket's file tells the lives of the workload's container apart even when one
// follows the other faster than anybody asks. A port tells nothing.
func (b *proxied) Life() string {
	if b.socket == "" {
		return ""
	}
	var s unix.Stat_t
	if unix.Stat(b.socket, &s) != nil {
		return "none"
	}
	return fmt.Sprint(s.Dev, " ", s.Ino, " ", s.Mtim) // chmod moves the ctime
}

// Close implements Backend. Tasks end first: they are told why, and what they
// still had to do is cancelled in the workload.
func (b *proxied) Close(ctx context.Context) {
	b.Proxy.Close()
	closeTasks(ctx, b.tasks)
	b.workload.Shutdown(ctx)
}

// Handshake implements health.Workload. A workload that is full of sessions is
// up: it was, or there were none.
func (b *proxied) Handshake(ctx context.Context) (health.Peer, error) {
	info, err := b.workload.Handshake(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case err == nil:
		b.last = health.Peer{Era: string(info.Era), Revision: info.Revision, Name: info.Name, Version: info.Version}
	case !errors.Is(err, upstream.ErrBusy) || b.last == (health.Peer{}):
		return health.Peer{}, failureOf(err)
	}
	return b.last, nil
}

// Check implements health.Workload.
func (b *proxied) Check(ctx context.Context) error {
	if err := b.workload.Check(ctx); err != nil {
		return failureOf(err)
	}
	return nil
}

// failureOf puts an upstream's error into health's words.
func failureOf(err error) *health.Failure {
	var h *upstream.HandshakeError
	if errors.As(err, &h) {
		return &health.Failure{Reason: h.Reason, ExitCode: h.ExitCode, StderrTail: h.StderrTail, Err: h.Err}
	}
	reason := config.ReasonBadHandshake
	if errors.Is(err, context.DeadlineExceeded) {
		reason = config.ReasonNoAnswer
	}
	return &health.Failure{Reason: reason, Err: err}
}
