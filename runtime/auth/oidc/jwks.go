package oidc

import (
	"context"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-jose/go-jose/v4"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Bounds of a key set.
const (
	maxKeys    = 64
	minRSABits = 2048
)

// fetchKeys gets the key set of the issuer, from where its metadata says it is
// now: issuers move.
func (c *Config) fetchKeys(ctx context.Context) ([]jose.JSONWebKey, error) {
	place := c.JWKSURL
	if place == "" {
		server, err := c.Fetcher.Server(ctx, c.Issuer)
		if err != nil {
			return nil, err
		}
		if place = server.JWKSURI; place == "" {
			return nil, errors.New("oidc: the metadata of the issuer names no keys")
		}
	}
	raw, err := c.Fetcher.Get(ctx, place)
	if err != nil {
		return nil, err
	}
	return parseKeys(raw)
}

// parseKeys takes the keys that may sign tokens: public, of a kind and size that
// counts, not declared to be for encryption. Others are left; a set without any
// is an error, so that it does not replace one with.
func parseKeys(raw []byte) ([]jose.JSONWebKey, error) {
	if err := strictjson.Scan(raw, strictjson.FromClient); err != nil {
		return nil, fmt.Errorf("oidc: the key set: %w", err)
	}
	list, ok := strictjson.Get(raw, "keys")
	if !ok || !strictjson.IsArray(list) {
		return nil, errors.New("oidc: the key set has no keys")
	}
	var keys []jose.JSONWebKey
	strictjson.Elements(list, func(value []byte) bool {
		var key jose.JSONWebKey
		if json.Unmarshal(value, &key) == nil && signs(&key) {
			keys = append(keys, key)
		}
		return len(keys) < maxKeys
	})
	if len(keys) == 0 {
		return nil, errors.New("oidc: no key of the set can sign tokens")
	}
	return keys, nil
}

func signs(key *jose.JSONWebKey) bool {
	if !key.Valid() || !key.IsPublic() || key.Use != "" && key.Use != "sig" {
		return false // shared secrets are no public keys
	}
	if public, isRSA := key.Key.(*rsa.PublicKey); isRSA {
		return public.N.BitLen() >= minRSABits
	}
	return true
}
