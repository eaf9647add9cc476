package guard

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/auth/metadata"
)

// describe makes the document, once: it says the same to everybody.
func (g *Guard) describe() (err error) {
	for _, issuer := range g.o.AuthorizationServers {
		u, err := url.Parse(issuer)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.RawQuery != "" || u.Fragment != "" {
			return fmt.Errorf("guard: %q is no issuer", issuer)
		}
		if g.o.OldClients && g.issuer == "" {
			g.issuer = metadata.ServerURL(u)
		}
	}
	g.metadata = metadata.ResourceURL(g.resource)
	g.document, err = (&metadata.Resource{
		Resource:             g.resource.String(),
		AuthorizationServers: g.o.AuthorizationServers,
		ScopesSupported:      g.o.ScopesSupported,
		BearerMethods:        []string{"header"},
		Name:                 g.o.Name,
		Documentation:        g.o.Documentation,
	}).Encode()
	g.paths = []string{metadata.ResourcePath, metadata.ResourcePath + g.resource.EscapedPath()}
	for _, path := range g.o.LocalPaths {
		if !strings.HasPrefix(path, "/") {
			return errors.New("guard: a local path begins with a slash")
		}
		g.paths = append(g.paths, metadata.ResourcePath+strings.TrimRight(path, "/"))
	}
	return err
}

// MetadataURL is the public address of the document; empty when there is none.
func (g *Guard) MetadataURL() string { return g.metadata }

// IsMetadata tells whether a request is for the document: at the root of the
// host and behind the endpoint's path (W38.7, C21), with or without a slash at
// the end.
func (g *Guard) IsMetadata(r *http.Request) bool {
	return slices.Contains(g.paths, strings.TrimSuffix(r.URL.EscapedPath(), "/")) || g.isOld(r)
}

// isOld tells whether an old client looks for the authorization server here.
func (g *Guard) isOld(r *http.Request) bool {
	return g.issuer != "" && strings.TrimSuffix(r.URL.EscapedPath(), "/") == metadata.ServerPath
}

// ServeMetadata serves the document to anybody, without a token and without a
// look at Host.
func (g *Guard) ServeMetadata(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	g.cors(h, r)
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		if g.isOld(r) {
			h.Set("Location", g.issuer)
			w.WriteHeader(http.StatusTemporaryRedirect)
			return
		}
		h.Set("Content-Type", "application/json")
		h.Set("Cache-Control", "public, max-age=300")
		h.Set("Content-Length", strconv.Itoa(len(g.document)))
		w.WriteHeader(http.StatusOK)
		if r.Method == http.MethodGet {
			_, _ = w.Write(g.document) // who has gone misses nothing more
		}
	case http.MethodOptions:
		h.Set("Allow", allow)
		w.WriteHeader(http.StatusNoContent)
	default:
		h.Set("Allow", allow)
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	}
}

const allow = "GET, HEAD, OPTIONS"

// cors lets web pages of allowed origins read the document (R21).
func (g *Guard) cors(h http.Header, r *http.Request) {
	if len(g.o.AllowedOrigins) == 0 {
		return
	}
	h.Add("Vary", "Origin")
	origin := r.Header.Get("Origin")
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		return
	}
	same := func(allowed string) bool {
		a, err := url.Parse(allowed)
		return allowed == "*" || err == nil && a.Host != "" && metadata.Origin(a) == metadata.Origin(u)
	}
	if !slices.ContainsFunc(g.o.AllowedOrigins, same) {
		return
	}
	h.Set("Access-Control-Allow-Origin", origin)
	if r.Method == http.MethodOptions {
		h.Set("Access-Control-Allow-Methods", allow)
		h.Set("Access-Control-Allow-Headers", "accept, mcp-protocol-version")
		h.Set("Access-Control-Max-Age", "600")
	}
}
