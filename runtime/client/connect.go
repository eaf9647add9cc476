package client

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// ErrNoRevision: the two sides have no protocol revision in common.
var ErrNoRevision = errors.New("client: no protocol revision in common")

// errSilent: the server did not answer the probe in time.
var errSilent = errors.New("client: no answer to server/discover")

func silent(err error) bool { return errors.Is(err, errSilent) }

// era is what is known about how a server talks (W5.14).
type era struct {
	known    bool
	revision string
	older    bool // it was reached the other way (W13.7)
}

// Connect finds out what the server speaks and begins the conversation:
// stateless where it can, else with a session, else over HTTP+SSE (W5.15,
// W5.16, W13.7, P34). Answers that say nothing about the era (unreachable, 401,
// 403, 429, 5xx) end the attempt; nothing is guessed from them (B1.2). ctx
// bounds the attempt only. The caller closes the Client.
func Connect(ctx context.Context, o Options) (*Client, error) {
	if o.Server == nil {
		return nil, errors.New("client: Options.Server is missing")
	}
	c := newClient(o)
	c.moves.to(Change{State: Connecting, Attempt: 1, Reason: "connecting"})
	conv, err := c.establish(ctx)
	if err != nil {
		c.finish(err, reasonOf(err))
		c.wg.Wait()
		return nil, err
	}
	c.adopt(conv)
	if c.opts.Handlers.any() {
		conv.settle(ctx)
	}
	return c, nil
}

// establish makes one connection, as the era that is known or by finding out.
func (c *Client) establish(ctx context.Context) (*conversation, error) {
	c.mu.Lock()
	known := c.era
	c.mu.Unlock()
	if known.known {
		conv, err := c.negotiate(ctx, []string{known.revision}, known.older)
		if err == nil || verdict(err) == nil && !errors.Is(err, ErrNoRevision) {
			return conv, err
		}
		// The assumption broke: ask again (W5.14).
	}
	candidates := mcp.Revisions()
	if c.opts.Revision != "" {
		if _, ok := mcp.Lookup(c.opts.Revision); !ok {
			return nil, fmt.Errorf("%w: %q is not known here", ErrNoRevision, c.opts.Revision)
		}
		candidates = []string{c.opts.Revision}
	}
	return c.negotiate(ctx, candidates, false)
}

// negotiate tries candidates, newest first, over one way in.
func (c *Client) negotiate(ctx context.Context, candidates []string, older bool) (*conversation, error) {
	n := negotiation{client: c, older: older}
	defer n.drop()
	asked := false // discover was tried and met silence
	for len(candidates) > 0 {
		if err := n.open(ctx); err != nil {
			return nil, n.failed("dial", err)
		}
		n.conv.profile, _ = mcp.Lookup(candidates[0])
		if !n.conv.profile.Handshake {
			left, err := n.probe(ctx, candidates)
			if err == nil {
				return n.take(), nil
			}
			if asked = silent(err); len(left) == 0 && len(n.tried) == 0 && !n.contradiction(err) {
				return nil, err
			}
			_ = n.failed(mcp.MethodDiscover, err)
			if candidates = left; n.contradicted(err) {
				candidates = append([]string{n.conv.profile.Revision}, left...)
			}
			continue
		}
		err := n.conv.initialize(ctx)
		if err == nil {
			return n.take(), nil
		}
		if !n.older && refusesPost(err) && n.goOlder() {
			_ = n.failed(mcp.MethodInitialize, err)
			continue
		}
		if len(n.tried) == 0 {
			return nil, err
		}
		_ = n.failed(mcp.MethodInitialize, err)
		candidates = nil
		if asked && rpcError(err) != nil {
			// It was starting when it was asked, and has no handshake.
			candidates, asked = mcp.Modern(), false
		}
	}
	return nil, errors.Join(n.tried...)
}

// negotiation is one attempt to connect, over one link after the other.
type negotiation struct {
	client *Client
	conv   *conversation
	older  bool
	tried  []error
	again  bool // the server was asked once more for what it refused
}

// contradiction: the server refuses a revision that it says it has, as one that
// is just being replaced may.
func (n *negotiation) contradiction(err error) bool {
	rpc := rpcError(err)
	return rpc != nil && rpc.Code == mcp.CodeUnsupportedRevision && !n.again &&
		slices.Contains(texts(rpc.Data, "supported"), n.conv.profile.Revision)
}

// contradicted reports a contradiction, the first time (W5.3).
func (n *negotiation) contradicted(err error) bool {
	if !n.contradiction(err) {
		return false
	}
	n.again = true
	return true
}

func (n *negotiation) failed(step string, err error) error {
	n.tried = append(n.tried, fmt.Errorf("%s: %w", step, err))
	if len(n.tried) == 1 {
		return err
	}
	return errors.Join(n.tried...)
}

// open makes sure that there is a link that lives.
func (n *negotiation) open(ctx context.Context) error {
	if n.conv != nil && n.conv.peer.Err() == nil {
		return nil
	}
	n.drop()
	target, binding := n.client.opts.Server, n.client.opts.Server.Binding()
	dial := target.Dial
	if old, ok := target.(older); ok && n.older {
		dial = old.DialOlder
		binding, _ = old.OlderBinding()
	}
	conv, err := n.client.dial(ctx, binding, dial)
	n.conv = conv
	return err
}

// goOlder changes to the other way in, if the target knows one.
func (n *negotiation) goOlder() bool {
	old, ok := n.client.opts.Server.(older)
	if !ok {
		return false
	}
	if _, ok = old.OlderBinding(); !ok {
		return false
	}
	n.drop()
	n.older = true
	return true
}

// refusesPost reads a refused initialize: a server of HTTP+SSE knows no POST
// here, and says so in whatever words, but not in those of a modern one (W13.7,
// P34).
func refusesPost(err error) bool {
	status := statusOf(err)
	if status < 400 || passing(status) {
		return false
	}
	rpc := rpcError(err)
	return rpc == nil || rpc.Code != mcp.CodeUnsupportedRevision && rpc.Code != mcp.CodeHeaderMismatch && rpc.Code != mcp.CodeMissingCapability
}

// probe is discover with a bound where silence is an answer.
func (n *negotiation) probe(ctx context.Context, candidates []string) ([]string, error) {
	if n.conv.binding != mcp.Stdio {
		return n.conv.discover(ctx, candidates)
	}
	ctx, stop := context.WithTimeoutCause(ctx, n.client.opts.ProbeTimeout, errSilent)
	defer stop()
	return n.conv.discover(ctx, candidates)
}

// take hands the conversation over.
func (n *negotiation) take() *conversation {
	conv := n.conv
	n.conv = nil
	n.client.mu.Lock()
	defer n.client.mu.Unlock()
	n.client.era = era{known: true, revision: conv.profile.Revision, older: n.older}
	return conv
}

// drop ends the link that is not used any more.
func (n *negotiation) drop() {
	if n.conv != nil {
		n.conv.close(ErrClosed)
		n.conv = nil
	}
}

// reasonOf is an error as a Change names it.
func reasonOf(err error) string {
	if r := peer.ReasonOf(err); r != "" {
		return string(r)
	}
	if rpcError(err) != nil {
		return "server_error"
	}
	return "other"
}
