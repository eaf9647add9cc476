package metadata

import (
	"context"
	"errors"
	"fmt"
	"net/url"
)

// Discovery is all that was found out about how a resource is authorized.
type Discovery struct {
	// Resource is the resource's own document; nil when it has none, as before
	// 2025-06-18.
	Resource *Resource
	// Server is its authorization server.
	Server *Server
}

// Discover finds the authorization server of a canonical resource. hint is
// resource_metadata of its challenge; empty for none. choose picks one of
// several issuers; nil takes the first. The ladder is the specification's, and
// each rung is left only because nothing is there:
//
//  1. the document that the challenge points to, and those at the well-known
//     places, tell the issuer, whose own document is then required;
//  2. a resource without a document that points to none is one of 2025-03-26,
//     whose origin is the issuer (W38.17), with a document or without.
func (f *Fetcher) Discover(ctx context.Context, resource *url.URL, hint string, choose func(issuers []string) string) (*Discovery, error) {
	doc, err := f.Resource(ctx, resource, hint)
	if errors.Is(err, ErrAbsent) && hint == "" { // who knows of such documents must have one
		server, err := f.Server(ctx, Origin(resource))
		if errors.Is(err, ErrAbsent) {
			server, err = assumed(resource), nil
		}
		if err != nil {
			return nil, err
		}
		return &Discovery{Server: server}, nil
	}
	if err != nil {
		return nil, err
	}
	if len(doc.AuthorizationServers) == 0 {
		return nil, errors.New("metadata: the resource names no authorization server")
	}
	issuer := doc.AuthorizationServers[0]
	if choose != nil {
		issuer = choose(doc.AuthorizationServers)
	}
	server, err := f.Server(ctx, issuer)
	if err != nil {
		return nil, err
	}
	return &Discovery{Resource: doc, Server: server}, nil
}

// Resource finds the document of a canonical resource. One that speaks for
// another resource is an error (RFC 9728 section 3.3): a server could otherwise
// have tokens made that are good elsewhere.
func (f *Fetcher) Resource(ctx context.Context, resource *url.URL, hint string) (*Resource, error) {
	places := resourcePlaces(resource)
	if hint != "" {
		// Some point to where nobody serves anything (C21); what is absent
		// there is looked for at the places that need no pointing.
		places = append([]string{hint}, places...)
	}
	raw, err := f.first(ctx, places)
	if err != nil {
		return nil, err
	}
	doc, err := ParseResource(raw)
	if err != nil {
		return nil, err
	}
	if !doc.Covers(resource) {
		return nil, fmt.Errorf("metadata: the document speaks for another resource than %s", resource)
	}
	return doc, nil
}

// Server finds the document of an issuer.
func (f *Fetcher) Server(ctx context.Context, issuer string) (*Server, error) {
	u, err := url.Parse(issuer)
	if err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("metadata: the issuer is no address")
	}
	raw, err := f.first(ctx, serverPlaces(u))
	if err != nil {
		return nil, fmt.Errorf("metadata: of the issuer: %w", err)
	}
	return ParseServer(raw, issuer)
}

// first gets the first document that is there.
func (f *Fetcher) first(ctx context.Context, places []string) ([]byte, error) {
	for _, place := range places {
		raw, err := f.Get(ctx, place)
		if !errors.Is(err, ErrAbsent) {
			return raw, err
		}
	}
	return nil, ErrAbsent
}
