package http

import (
	"context"
	"errors"
	nethttp "net/http"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/client/sseleg"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
)

// The older transport, HTTP+SSE (W13): a server that refuses to be POSTed to is
// asked with a GET for the stream on which it says where to POST (W13.7,
// B1.3). The stream is the session, so one that breaks is a session that the
// workload has forgotten: another is opened and told what the last one was.

// refusesPost reports whether an answer to initialize is that of a server that
// may know the older transport: any 4xx but those that say something else.
func refusesPost(err error) bool {
	var f *peer.Failure
	if rpc := new(jsonrpc.Error); errors.As(err, &rpc) || !errors.As(err, &f) {
		return false
	}
	switch f.Status {
	case nethttp.StatusUnauthorized, nethttp.StatusForbidden, nethttp.StatusTooManyRequests:
		return false
	}
	return f.Status >= 400 && f.Status < 500
}

// shakeOlder opens a session on the older transport.
func (l *leg) shakeOlder(ctx context.Context, startup time.Duration) (*conn, *peer.Init, error) {
	w := l.w
	c := &conn{older: true}
	link := sseleg.New(sseleg.Config{URL: w.url, HTTP: w.client, MaxMessageBytes: w.cfg.MaxMessageBytes, OpenTimeout: startup})
	c.http = link
	c.Peer = peer.New(link, peer.Config{
		Handler: l.handler,
		Hooks:   w.cfg.Hooks.Peer,
		Budget:  w.cfg.Budget,
		Ended: func(f *peer.Failure) {
			if f.Reason == peer.Ended {
				l.revive(c)
			}
		},
	})
	ctx, stop := context.WithTimeoutCause(ctx, startup, errSilent)
	defer stop()
	in, err := c.Initialize(ctx, l.params, w.cfg.Revision.Accept)
	if err != nil {
		w.finish(c, err)
		return nil, nil, err
	}
	return c, in, nil
}

// revive opens the next stream when one has ended by itself: whoever listens
// would wait for ever for a request to do it.
func (l *leg) revive(gone *conn) {
	w := l.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, known := w.legs[l]; !known || w.closed {
		return
	}
	w.wg.Go(func() {
		ctx, stop := context.WithTimeout(l.ctx, w.cfg.Hold+2*w.cfg.Startup)
		defer stop()
		_ = l.renew(ctx, gone, time.Now().Add(w.cfg.Hold)) // the next request tries again
	})
}

// lost reports whether a session on the older transport is over.
func (c *conn) lost() bool { return c.older && c.Err() != nil }
