package token_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/auth/guard"
	"github.com/fairlead-dev/fairlead/runtime/auth/token"
	"github.com/fairlead-dev/fairlead/runtime/client"
	"github.com/fairlead-dev/fairlead/runtime/mcptest"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/server"
	"github.com/fairlead-dev/fairlead/runtime/transport/streamable"
)

// guarded is a server of package server whose tokens name their scopes: "t.a.b"
// grants a and b.
func guarded(t *testing.T) (url string, requests func() int) {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	keys := &seal.Keyring{Server: "test"}
	must(keys.LoadEphemeral())
	s := server.New(server.Info{Name: "s", Version: "1"}, server.Options{Keys: keys})
	must(server.AddTool(s, server.Tool{Name: "write", Scopes: []string{"read", "write"}}, func(*server.Context, struct{}) (string, error) { return "written", nil }))
	g, err := guard.New(guard.Options{
		Resource: "http://127.0.0.1/mcp", Scopes: []string{"mcp"},
		Checker: auth.CheckerFunc(func(_ context.Context, value string, _ *http.Request) (*auth.Identity, error) {
			name, scopes, _ := strings.Cut(value, ".")
			if name != "t" {
				return nil, auth.Refuse(auth.InvalidToken, "unknown")
			}
			return &auth.Identity{Principal: "p", Scopes: strings.Split(scopes, ".")}, nil
		}),
	})
	must(err)
	front := &streamable.Server{Handler: s, Keys: keys, Pod: "pod", Authenticate: g.Authenticate, Challenge: g.Challenge}
	var mu sync.Mutex
	n := 0
	web := mcptest.Loopback(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		n++
		mu.Unlock()
		front.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { s.Close(); front.Cut(io.EOF) })
	return web.URL + "/mcp", func() int {
		mu.Lock()
		defer mu.Unlock()
		return n
	}
}

// A client of both eras gets what it needs, and no more, as it goes along.
func TestAClientStepsUp(t *testing.T) {
	for _, revision := range []string{"2026-07-28", "2025-11-25"} {
		t.Run(revision, func(t *testing.T) {
			url, requests := guarded(t)
			var asked []string
			a, err := token.New(token.Options{Resource: url, Source: token.SourceFunc(func(_ context.Context, need token.Need) (token.Token, error) {
				asked = append(asked, strings.TrimSpace(fmt.Sprint(need.Reason, need.Scopes)))
				if need.Reason == token.First {
					return token.Token{}, token.ErrNone
				}
				return token.Token{Value: "t." + strings.Join(need.Scopes, ".")}, nil
			})})
			if err != nil {
				t.Fatal(err)
			}
			transport := &http.Transport{}
			defer transport.CloseIdleConnections()
			c, err := client.Connect(t.Context(), client.Options{Server: client.HTTP{URL: url, Client: &http.Client{Transport: transport}, Auth: a}, Revision: revision})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			for range 3 {
				before := requests()
				result, err := c.CallTool(t.Context(), "write", struct{}{})
				if err != nil || result.IsError {
					t.Fatalf("%+v, %v after %q", result, err, asked)
				}
				if extra := requests() - before; extra > 3 {
					t.Errorf("%d requests for one call", extra)
				}
			}
			if diff := cmp.Diff([]string{"first[]", "refused[mcp]", "scope[mcp read write]"}, asked); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAClientReadsWhyThereIsNoToken(t *testing.T) {
	url, _ := guarded(t)
	login := errors.New("somebody must log in at https://as.example")
	a, err := token.New(token.Options{Resource: url, Source: token.SourceFunc(func(_ context.Context, need token.Need) (token.Token, error) {
		if need.Reason == token.First {
			return token.Token{}, token.ErrNone
		}
		return token.Token{}, login
	})})
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	_, err = client.Connect(t.Context(), client.Options{Server: client.HTTP{URL: url, Client: &http.Client{Transport: transport}, Auth: a}})
	if !errors.Is(err, login) {
		t.Errorf("got %v", err)
	}
}
