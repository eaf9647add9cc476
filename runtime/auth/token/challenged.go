package token

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/auth"
)

// Challenged reads a 401 or a 403 of the server; again means that the same
// request may succeed now. It leaves the body alone. The error is that of a
// Source that could not make a better token. The caller bounds how often it
// makes one request: twice more is plenty (a new token, then more scopes).
func (a *Auth) Challenged(ctx context.Context, resp *http.Response) (again bool, err error) {
	r := resp.Request
	if r == nil || !a.ours(r.URL) || !a.learn(r.Context()) {
		return false, nil
	}
	used, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	challenge, found := auth.FindBearer(auth.ParseChallenges(resp.Header.Values("WWW-Authenticate")))
	need := Need{Challenge: challenge, Discover: a.discoverer(challenge)}
	switch resp.StatusCode {
	case http.StatusUnauthorized:
		need.Reason = Refused
		if !a.mayReplace(used, challenge.Scopes()) {
			return false, nil
		}
	case http.StatusForbidden:
		need.Reason = Scope
		if !found || challenge.Code() != auth.InsufficientScope || !a.mayStepUp(used, challenge.Scopes()) {
			return false, nil
		}
	default:
		return false, nil
	}
	_, err = a.renew(ctx, need, used)
	if errors.Is(err, ErrNoOther) || errors.Is(err, ErrNone) {
		return false, nil // the server's own words say more
	}
	return err == nil, err
}

// mayReplace decides whether a refused token is replaced: at once the first
// time, and then less and less often, because a server that refuses everything
// must not make us fetch tokens for each request. All who were refused with the
// same token get the same answer.
func (a *Auth) mayReplace(used string, scopes []string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.want(scopes)
	if used == "" {
		a.none = false // now it is asked for
	}
	if used != a.current.Value || used == "" || used == a.replaced {
		return true
	}
	if !a.refused.allow(time.Now()) {
		return false
	}
	a.replaced = used
	return true
}

// mayStepUp decides whether more scopes are asked for: not when a token with all
// of them has been refused lately, and not for ever new ones (W38.9).
func (a *Auth) mayStepUp(used string, scopes []string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(scopes) == 0 || used == "" {
		return false
	}
	a.want(scopes)
	if used != a.current.Value {
		return true // another has been got since
	}
	now := time.Now()
	for step, at := range a.steps {
		if now.Sub(at.when) >= calm {
			delete(a.steps, step)
		}
	}
	step := strings.Join(a.wanted, " ")
	if tried, ok := a.steps[step]; ok {
		return tried.token == used // else this is the token that came of it
	}
	if len(a.steps) >= maxSteps {
		return false
	}
	a.steps[step] = stepUp{token: used, when: now}
	return true
}

// stepUp is which token was to be replaced by one with more scopes, and when.
type stepUp struct {
	token string
	when  time.Time
}

// want adds to the union of scopes, up to its bound.
func (a *Auth) want(scopes []string) {
	if all := auth.NormalScopes(slices.Concat(a.wanted, scopes)); len(all) <= auth.MaxScopes {
		a.wanted = all
	}
}

// pace lets something happen at once, and then at growing distances until there
// was calm. It is used with Auth's lock.
type pace struct {
	next, last time.Time
	wait       time.Duration
}

func (p *pace) allow(now time.Time) bool {
	if now.Sub(p.last) >= calm {
		p.wait, p.next = 0, time.Time{}
	}
	if now.Before(p.next) {
		return false
	}
	p.wait = min(max(2*p.wait, firstBackoff), maxBackoff)
	p.last, p.next = now, now.Add(p.wait)
	return true
}
