package stdio

import (
	"context"
	"io"

	"github.com/fairlead-dev/fairlead/sidecar/agent"
)

// Starter starts a process of the workload.
type Starter interface {
	// Start starts one whose key is unique. ctx bounds the start only.
	Start(ctx context.Context, key string) (Child, error)
	// Check asks cheaply whether Start can be expected to work.
	Check(ctx context.Context) error
}

// Child is a running process. Its user closes the streams and calls Close,
// also after Done.
type Child interface {
	Stdin() io.WriteCloser
	Stdout() io.ReadCloser
	// Done is closed when the process and all it started are gone.
	Done() <-chan struct{}
	// Exit is how it ended, valid after Done.
	Exit() agent.Exit
	// Stop begins its end: stdin closed, then TERM, then KILL (W18.7). It
	// returns at once.
	Stop()
	// Close gives it up.
	Close()
}

// Agent is the Starter of a pod: the agent in the workload's container.
type Agent struct{ agent.Dialer }

// Start implements Starter.
func (a Agent) Start(ctx context.Context, key string) (Child, error) {
	p, err := a.Dialer.Start(ctx, agent.StartRequest{Key: key})
	if err != nil {
		return nil, err
	}
	return agentChild{p}, nil
}

type agentChild struct{ p *agent.Process }

func (c agentChild) Stdin() io.WriteCloser { return c.p.Stdin }
func (c agentChild) Stdout() io.ReadCloser { return c.p.Stdout }
func (c agentChild) Done() <-chan struct{} { return c.p.Done() }
func (c agentChild) Exit() agent.Exit      { return c.p.Exit() }
func (c agentChild) Stop()                 { _ = c.p.Stop() }
func (c agentChild) Close()                { _ = c.p.Close() }
