package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// conversation is one connection to the server. What is negotiated does not
// change once it is the Client's.
type conversation struct {
	client  *Client
	peer    *peer.Peer
	link    peer.Link
	binding mcp.Binding
	profile mcp.Profile
	server  Server
	listen  sync.Once
	heard   chan struct{} // closed when the stream of hear is open or refused
	hears   sync.Once
	agreed  atomic.Pointer[mcp.Profile] // for handlers, which may run before connecting has ended
	retired chan struct{}               // closed when it is of no use any more
	gone    sync.Once
}

// dial opens a link and puts a Peer on the link.
func (c *Client) dial(ctx context.Context, binding mcp.Binding, dial func(context.Context, Wiring) (peer.Link, error)) (*conversation, error) {
	v := &conversation{client: c, binding: binding, heard: make(chan struct{}), retired: make(chan struct{})}
	link, err := dial(ctx, v.wiring())
	if err != nil {
		return nil, err
	}
	v.link = link
	if c.opts.Wire != nil {
		link = wired(link, c.opts.Wire)
	}
	v.peer = peer.New(link, peer.Config{
		Handler:    ears{v},
		Send:       c.opts.Send,
		Receive:    c.opts.Receive,
		MaxPending: c.opts.MaxPending,
		Hooks:      peer.Hooks{Dropped: c.opts.Observer.Dropped, Noise: c.opts.Observer.Noise, Panicked: c.opts.Observer.Panicked},
	})
	return v, nil
}

// wiring is what the link tells.
func (v *conversation) wiring() Wiring {
	c := v.client
	return Wiring{
		MaxMessageBytes: c.opts.MaxMessageBytes,
		Listening: func(outcome string) {
			v.hears.Do(func() { close(v.heard) })
			switch outcome {
			case "lost":
				c.moves.ill(troubleListen, "stream_lost", nil)
			case "open":
				c.moves.well(troubleListen)
			}
		},
		Resumed: func() {
			if f := c.opts.Observer.Resumed; f != nil {
				f()
			}
		},
		Gone: v.retire,
	}
}

// speaks is what was agreed on, the zero Profile before that. Handlers use it:
// a server may ask as soon as it is told that the session is initialized.
func (v *conversation) speaks() mcp.Profile {
	if p := v.agreed.Load(); p != nil {
		return *p
	}
	return mcp.Profile{}
}

// close ends it and waits until nothing of it runs any more.
func (v *conversation) close(cause error) {
	v.peer.Close(cause)
	if w, ok := v.link.(waiter); ok {
		w.Wait()
	}
	v.peer.Wait()
}

// hear opens the stream on which a server sends what belongs to no request,
// where the link has one (P6).
func (v *conversation) hear() {
	if l, ok := v.link.(listener); ok && v.profile.Handshake {
		v.listen.Do(l.Listen)
	}
}

// hearing is how long settle waits for a server that does not send the head of
// the stream before the first message.
const hearing = time.Second

// settle waits until the stream of hear is open: servers drop what they ask on
// it while nobody listens (P6), so the first call must not come before it.
func (v *conversation) settle(ctx context.Context) {
	if _, ok := v.link.(listener); !ok || !v.profile.Handshake {
		return
	}
	t := time.NewTimer(hearing)
	defer t.Stop()
	select {
	case <-v.heard:
	case <-t.C:
	case <-v.retired:
	case <-ctx.Done():
	}
}

// discover asks a stateless server who it is. On an error it returns the
// revisions that are still worth trying.
func (v *conversation) discover(ctx context.Context, candidates []string) (left []string, err error) {
	raw, err := v.call(ctx, &request{method: mcp.MethodDiscover, quiet: true})
	if err != nil {
		return v.after(candidates, err), err
	}
	versions := texts(raw, "supportedVersions")
	if !slices.Contains(versions, v.profile.Revision) {
		left = mutual(candidates[1:], versions)
		return left, fmt.Errorf("%w: the server has %v", ErrNoRevision, versions)
	}
	info := member(raw, "_meta", mcp.MetaServerInfo)
	if info == nil {
		info = member(raw, "serverInfo") // where drafts had it (B1.6)
	}
	v.server = described(raw, info)
	v.peer.Stateless()
	agreed := v.profile
	v.agreed.Store(&agreed)
	return nil, nil
}

// after reads what a failed discover says about the era (B1.2, W5.15).
func (v *conversation) after(candidates []string, err error) []string {
	rpc := verdict(err)
	switch {
	case rpc == nil && v.binding == mcp.Stdio:
		// Silence and an exit are answers of old servers (W5.15).
		if silent(err) || peer.ReasonOf(err) != "" {
			return legacyOf(candidates)
		}
		return nil
	case rpc == nil:
		if status := statusOf(err); status >= 400 && !passing(status) {
			return legacyOf(candidates)
		}
		if peer.ReasonOf(err) == peer.BadResponse {
			return legacyOf(candidates)
		}
		return nil
	case rpc.Code == mcp.CodeUnsupportedRevision:
		return mutual(candidates[1:], texts(rpc.Data, "supported"))
	case rpc.Code == mcp.CodeHeaderMismatch, rpc.Code == mcp.CodeMissingCapability:
		return nil // a modern server, and our request is at fault
	}
	return legacyOf(candidates)
}

// initialize opens a session. Any revision with a handshake that the server
// answers with is taken (W4.3), unless one was pinned.
func (v *conversation) initialize(ctx context.Context) error {
	o := &v.client.opts
	var params object
	params.set("protocolVersion", strictjson.Quote(nil, v.profile.Revision))
	params.set("capabilities", v.client.capabilities(v.profile, o.Extensions))
	params.set("clientInfo", v.client.info())
	ctx, stop := bounded(ctx, o.Timeout)
	defer stop()
	in, err := v.peer.Initialize(ctx, params.bytes(), func(revision string) bool {
		p, known := mcp.Lookup(revision)
		usable := known && p.Handshake && (o.Revision == "" || o.Revision == revision)
		if usable {
			v.agreed.Store(&p)
		}
		return usable
	})
	if err != nil {
		return err
	}
	v.profile, _ = mcp.Lookup(in.Revision)
	v.server = described(in.Raw, in.ServerInfo)
	return nil
}

// ErrorCode is the JSON-RPC code of an error that the server answered with.
func ErrorCode(err error) (code int64, ok bool) {
	if rpc := rpcError(err); rpc != nil {
		return rpc.Code, true
	}
	return 0, false
}

// rpcError finds the server's error, also in a body that did not repeat our id.
func rpcError(err error) *jsonrpc.Error {
	var rpc *jsonrpc.Error
	errors.As(err, &rpc)
	return rpc
}

// verdict is rpcError where it is about the request: what a server says who
// does not know the caller, or has no time, says nothing about anything else
// (B1.2, W5.16), and may be otherwise the next time.
func verdict(err error) *jsonrpc.Error {
	if passing(statusOf(err)) {
		return nil
	}
	return rpcError(err)
}

// passing tells the statuses that depend on who asks and when.
func passing(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusTooManyRequests || status >= 500
}

func statusOf(err error) int {
	var f *peer.Failure
	if errors.As(err, &f) {
		return f.Status
	}
	return 0
}

func legacyOf(candidates []string) []string {
	return slices.DeleteFunc(slices.Clone(candidates), func(r string) bool {
		p, _ := mcp.Lookup(r)
		return !p.Handshake
	})
}

// mutual keeps what the server has as well.
func mutual(candidates, theirs []string) []string {
	return slices.DeleteFunc(slices.Clone(candidates), func(r string) bool { return !slices.Contains(theirs, r) })
}
