package token

import (
	"context"
	"net"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/auth/metadata"
)

// found is what was discovered last, and after which hint.
type found struct {
	what *metadata.Discovery
	hint string
	at   time.Time
}

// discoverer makes the Discover of a Need. What was found is believed for a
// quarter of an hour, but not when the server points elsewhere now: it may have
// changed its authorization server.
func (a *Auth) discoverer(challenge auth.Challenge) func(context.Context) (*metadata.Discovery, error) {
	hint := challenge.Params[auth.ParamResourceMetadata]
	return func(ctx context.Context) (*metadata.Discovery, error) {
		a.mu.Lock()
		known, reach := a.found, a.reach
		a.mu.Unlock()
		if known.what != nil && time.Since(known.at) < foundFor && (hint == "" || hint == known.hint) {
			return known.what, nil
		}
		if hint == "" {
			hint = known.hint // it once said where
		}
		fetcher := a.o.Fetcher
		if fetcher == nil {
			fetcher = &metadata.Fetcher{Reach: reach, PlainHTTP: a.o.PlainHTTP}
		}
		what, err := fetcher.Discover(ctx, a.resource, hint, a.o.Choose)
		if err != nil {
			return nil, err
		}
		a.mu.Lock()
		a.found = found{what: what, hint: hint, at: time.Now()}
		a.mu.Unlock()
		return what, nil
	}
}

type reachKey struct{}

// traced returns a context in which the request's connection tells where the
// server is, as far as the network is concerned.
func traced(ctx context.Context) context.Context {
	reach := new(atomic.Int32)
	reach.Store(-1)
	ctx = context.WithValue(ctx, reachKey{}, reach)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		if tcp, ok := info.Conn.RemoteAddr().(*net.TCPAddr); ok {
			if r := metadata.ReachOf(tcp.AddrPort().Addr()); r != metadata.Nowhere {
				reach.Store(int32(r))
			}
		}
	}})
}

// learn takes what the connection of a request told; false when the request was
// not authorized here.
func (a *Auth) learn(ctx context.Context) bool {
	reach, ok := ctx.Value(reachKey{}).(*atomic.Int32)
	if !ok {
		return false
	}
	if r := reach.Load(); r >= 0 {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.reach = metadata.Reach(r)
	}
	return true
}
