package proxy

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// Pauses before a subscription that broke is made again: doubling, with
// jitter (B10.12, W34.5).
const (
	relistenFirst = 250 * time.Millisecond
	relistenMost  = 15 * time.Second
)

// listening keeps one subscription with a modern workload, over restarts of
// the workload too. Its functions are called one at a time.
type listening struct {
	conv   upstream.Conversation
	params []byte
	// acked is told what is honoured, a raw object; again says that it is not
	// the first time, so that changes may have been missed (B10.7).
	acked func(honoured []byte, again bool)
	// changed gets a notification. It may wait where in.MayWait says so.
	changed func(in peer.Incoming)

	open  bool // acknowledged, on this connection
	times int  // acknowledged, all in all
}

// run listens until ctx ends, the workload refuses, or it ends the
// subscription well; the answer then is its last word.
func (l *listening) run(ctx context.Context) (peer.Answer, error) {
	for attempt := 0; ; attempt++ {
		l.open = false
		answer, err := l.conv.Call(ctx, listenRequest(l.params, l))
		switch {
		case err == nil, ctx.Err() != nil, errors.Is(err, peer.ErrWithdrawn):
			return answer, err
		case !passing(err):
			return answer, err
		}
		if l.open {
			attempt = 0
		}
		d := min(relistenFirst<<min(attempt, 10), relistenMost)
		if cause := pause(ctx, d/2+rand.N(d)); cause != nil {
			return peer.Answer{}, cause
		}
	}
}

// passing reports whether a subscription that failed so may work later.
func passing(err error) bool {
	switch peer.ReasonOf(err) {
	case peer.Ended, peer.StreamLost, peer.Unreachable, peer.Status, peer.SessionGone, peer.BadResponse:
		return true
	}
	var h *upstream.HandshakeError
	return errors.As(err, &h) // it is starting again
}

// Request implements peer.Handler. A modern workload asks nothing.
func (l *listening) Request(context.Context, peer.Incoming) ([]byte, *jsonrpc.Error) {
	return nil, jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "method not found")
}

// Notification implements peer.Handler. Nothing counts before the
// acknowledgement (W33.3).
func (l *listening) Notification(in peer.Incoming) {
	if in.Msg.Method == mcp.NotifyAcknowledged {
		if l.open {
			return
		}
		l.open = true
		l.times++
		honoured, _ := strictjson.Get(in.Msg.Params, "notifications")
		if !strictjson.IsObject(honoured) {
			honoured = []byte("{}")
		}
		l.acked(honoured, l.times > 1)
		return
	}
	if l.open {
		l.changed(in)
	}
}

// pause waits; it returns ctx's cause if that ended first.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// missed makes the notifications for everything that may have changed
// unnoticed: one for each kind that is honoured, one for each resource (B10.7).
func missed(honoured []byte) (out [][]byte) {
	for _, kind := range changeKinds {
		if flag, _ := strictjson.Get(honoured, kind.member); string(flag) == "true" {
			out = append(out, jsonrpc.EncodeNotification(kind.method, nil))
		}
	}
	uris, _ := strictjson.Get(honoured, "resourceSubscriptions")
	strictjson.Elements(uris, func(uri []byte) bool {
		out = append(out, jsonrpc.EncodeNotification(mcp.NotifyResourceUpdated, append(append([]byte(`{"uri":`), uri...), '}')))
		return true
	})
	return out
}

// changeKinds are the lists that can change: the member of a listen filter, and
// what it brings.
var changeKinds = [...]struct{ member, method string }{
	{"toolsListChanged", mcp.NotifyToolsChanged},
	{"promptsListChanged", mcp.NotifyPromptsChanged},
	{"resourcesListChanged", mcp.NotifyResourcesChanged},
}
