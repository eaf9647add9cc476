package oidc

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// errSignature: no key of the issuer made this signature.
var errSignature = errors.New("oidc: the signature is not by a key of the issuer")

// OutageError: whether a token is good cannot be said, because the issuer's keys
// cannot be had.
type OutageError struct{ Err error }

// Error implements error.
func (e *OutageError) Error() string {
	return "oidc: the keys of the issuer cannot be had: " + e.Err.Error()
}

// Unwrap returns what went wrong with the fetch.
func (e *OutageError) Unwrap() error { return e.Err }

// issuerKeys are an issuer's keys. At most one fetch runs at a time, and whoever
// needs its result waits for that one. It is safe for concurrent use.
type issuerKeys struct {
	fetch   func(context.Context) ([]jose.JSONWebKey, error)
	fetched func(int, error) // may be nil
	algs    []jose.SignatureAlgorithm
	refresh time.Duration
	refetch time.Duration
	stale   time.Duration

	mu      sync.Mutex
	keys    []jose.JSONWebKey
	changes uint64    // successful fetches
	good    time.Time // of the last fetch that succeeded
	tried   time.Time // of the last fetch
	err     error     // of the last fetch
	running chan struct{}
}

// fetchTimeout bounds a fetch; it outlives the request that began it.
const fetchTimeout = 15 * time.Second

// VerifySignature implements go-oidc's KeySet. The error is errSignature, an
// *OutageError, or ctx's.
func (k *issuerKeys) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	jws, err := jose.ParseSignedCompact(token, k.algs)
	if err != nil || len(jws.Signatures) != 1 {
		return nil, errSignature
	}
	keys, err := k.current(ctx)
	if err != nil {
		return nil, err
	}
	payload, known := verify(jws, keys)
	if payload != nil {
		return payload, nil
	}
	if known {
		return nil, errSignature
	}
	// Perhaps the issuer has a new key.
	if keys, err = k.newer(ctx); err != nil {
		return nil, err
	}
	if payload, _ = verify(jws, keys); payload == nil {
		return nil, errSignature
	}
	return payload, nil
}

// verify tries the keys that could have signed. known is set when the token
// names one of them: a key that is there needs no second look at the issuer.
func verify(jws *jose.JSONWebSignature, keys []jose.JSONWebKey) (payload []byte, known bool) {
	header := jws.Signatures[0].Header
	for i := range keys {
		key := &keys[i]
		if header.KeyID != "" && key.KeyID != header.KeyID || key.Algorithm != "" && key.Algorithm != header.Algorithm {
			continue
		}
		known = known || header.KeyID != ""
		if out, err := jws.Verify(key); err == nil {
			return out, true
		}
	}
	return nil, known
}

// generation names the present keys, if they are good: what was verified with
// others must be verified again. Asking keeps them fresh.
func (k *issuerKeys) generation() (n uint64, good bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.changes, k.fresh()
}

// fresh tells whether the keys are good, and has old ones fetched again beside
// the request. It is called with the lock.
func (k *issuerKeys) fresh() bool {
	age := time.Since(k.good)
	if k.good.IsZero() || age >= k.stale {
		return false
	}
	if age >= k.refresh && time.Since(k.tried) >= k.refetch {
		k.start()
	}
	return true
}

// current returns the keys as they are; ones that are too old are fetched first.
func (k *issuerKeys) current(ctx context.Context) ([]jose.JSONWebKey, error) {
	k.mu.Lock()
	if k.fresh() {
		keys := k.keys
		k.mu.Unlock()
		return keys, nil
	}
	if k.err != nil && time.Since(k.tried) < k.refetch && k.running == nil {
		err := k.err
		k.mu.Unlock()
		return nil, &OutageError{err}
	}
	return k.wait(ctx)
}

// newer returns keys that were fetched less than refetch ago: the issuer did not
// have other keys then, and is not asked more often.
func (k *issuerKeys) newer(ctx context.Context) ([]jose.JSONWebKey, error) {
	k.mu.Lock()
	if k.running == nil && time.Since(k.tried) < k.refetch {
		defer k.mu.Unlock()
		if k.err != nil {
			return nil, &OutageError{k.err}
		}
		return k.keys, nil
	}
	return k.wait(ctx)
}

// wait joins the fetch that runs, or starts one. It is called with the lock and
// gives it back.
func (k *issuerKeys) wait(ctx context.Context) ([]jose.JSONWebKey, error) {
	running := k.start()
	k.mu.Unlock()
	select {
	case <-running:
	case <-ctx.Done():
		return nil, &OutageError{ctx.Err()}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err != nil {
		return nil, &OutageError{k.err}
	}
	return k.keys, nil
}

// start begins a fetch unless one runs. It is called with the lock.
func (k *issuerKeys) start() (running chan struct{}) {
	if k.running != nil {
		return k.running
	}
	running = make(chan struct{})
	k.running = running
	go func() {
		ctx, stop := context.WithTimeout(context.Background(), fetchTimeout)
		defer stop()
		keys, err := k.fetch(ctx)
		k.mu.Lock()
		k.tried, k.err, k.running = time.Now(), err, nil
		if err == nil {
			k.keys, k.good = keys, k.tried
			k.changes++
		}
		have := len(k.keys)
		k.mu.Unlock()
		close(running)
		if k.fetched != nil {
			k.fetched(have, err)
		}
	}()
	return running
}
