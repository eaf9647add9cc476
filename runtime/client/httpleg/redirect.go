package httpleg

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
)

const maxRedirects = 3

// do makes a request and follows what R17 allows: up to three redirects on the
// same scheme, host and port, the method kept. Once after 421 or 403 it tries
// the other Host header (C20). The error is a *peer.Failure or ctx's cause.
func (l *Leg) do(ctx context.Context, method string, out *peer.Outgoing, edit func(http.Header)) (*http.Response, error) {
	l.mu.Lock()
	target := l.url
	l.mu.Unlock()
	for hops, challenges := 0, 0; ; {
		req := l.build(ctx, method, target, out)
		if edit != nil {
			edit(req.Header)
		}
		if err := l.authorize(req); err != nil {
			return nil, err
		}
		resp, err := l.trip.RoundTrip(req)
		if err != nil {
			return nil, failed(ctx, err)
		}
		again, err := l.challenged(ctx, resp, &challenges)
		if err != nil {
			return nil, err
		}
		if again {
			continue
		}
		switch resp.StatusCode {
		case http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
			if hops++; hops > maxRedirects {
				discard(resp)
				return nil, &peer.Failure{Reason: peer.Redirected, Status: resp.StatusCode, NotDelivered: true, Err: errors.New("too many redirects")}
			}
			target, err = l.move(target, resp)
			discard(resp)
			if err != nil {
				return nil, err
			}
			continue
		case http.StatusMisdirectedRequest, http.StatusForbidden:
			if l.otherHost() {
				discard(resp)
				continue
			}
		case http.StatusSwitchingProtocols:
			// The connection is ours from here on, and ends with nobody's context.
			_ = resp.Body.Close()
			return nil, statusFailure(resp.StatusCode, nil)
		}
		return resp, nil
	}
}

// move is the target of a redirect; a permanent one is remembered.
func (l *Leg) move(from *url.URL, resp *http.Response) (*url.URL, error) {
	refused := func(why string) (*url.URL, error) {
		return nil, &peer.Failure{Reason: peer.Redirected, Status: resp.StatusCode, NotDelivered: true, Err: errors.New(why)}
	}
	to, err := resp.Location()
	if err != nil {
		return refused("redirect without a usable Location")
	}
	// Servers build the target from the Host header that they saw, so both
	// names of this server count as itself; the address dialled stays.
	l.mu.Lock()
	defer l.mu.Unlock()
	if to.Scheme != from.Scheme || to.Host != from.Host && to.Host != l.host && to.Host != l.cfg.AltHost {
		return refused("redirect to another server")
	}
	next := *from
	next.Path, next.RawPath, next.RawQuery = to.Path, to.RawPath, to.RawQuery
	if resp.StatusCode == http.StatusMovedPermanently || resp.StatusCode == http.StatusPermanentRedirect {
		l.url = &next
	}
	return &next, nil
}

// otherHost switches to the other Host header, once.
func (l *Leg) otherHost() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.altTried || l.cfg.AltHost == "" {
		return false
	}
	if l.cfg.Hooks.HostRefused != nil {
		l.cfg.Hooks.HostRefused(l.host)
	}
	l.altTried, l.host = true, l.cfg.AltHost
	return true
}
