package inspect

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/server"
	"github.com/fairlead-dev/fairlead/runtime/transport/streamable"
)

// serve serves a server with one of everything, in these revisions.
func serve(t *testing.T, offer mcp.Offer) string {
	t.Helper()
	s := server.New(server.Info{Name: "shop", Title: "The shop", Version: "3", Instructions: "Ask first.\nThen buy."}, server.Options{})
	t.Cleanup(s.Close)
	type in struct {
		Item string `json:"item"`
		N    int    `json:"n,omitempty"`
	}
	if err := server.AddTool(s, server.Tool{Name: "buy", Description: "Buys an item.\x1b[2J"}, func(*server.Context, in) (struct{}, error) { return struct{}{}, nil }); err != nil {
		t.Fatal(err)
	}
	ring := &seal.Keyring{Server: "x"}
	if err := ring.LoadEphemeral(); err != nil {
		t.Fatal(err)
	}
	front := &streamable.Server{Handler: s, Keys: ring, Settings: func() streamable.Settings { return streamable.Settings{Revisions: offer} }}
	web := httptest.NewServer(front)
	t.Cleanup(func() {
		_ = front.Shutdown(context.Background(), nil)
		web.Close()
	})
	return web.URL + "/mcp"
}

func TestLookTellsBothEras(t *testing.T) {
	for name, test := range map[string]struct {
		offer          mcp.Offer
		revision       string
		modern, legacy []string
		asked          string
		fails          bool
	}{
		"every revision":         {offer: nil, modern: mcp.Modern(), legacy: mcp.Legacy(), asked: "2026-07-28"},
		"asked for an older one": {offer: nil, revision: "2025-06-18", modern: mcp.Modern(), legacy: mcp.Legacy(), asked: "2025-06-18"},
		"sessions only":          {offer: mcp.Legacy(), modern: []string{}, legacy: mcp.Legacy(), asked: "2025-11-25"},
		"stateless only":         {offer: mcp.Modern(), modern: mcp.Modern(), legacy: []string{}, asked: "2026-07-28"},
		"one that is not served": {offer: mcp.Modern(), revision: "2025-06-18", fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			url := serve(t, test.offer)
			r, err := Look(t.Context(), Target{URL: url, Revision: test.revision})
			if test.fails {
				if err == nil {
					t.Fatalf("a report: %+v", r)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.modern, r.Modern); diff != "" {
				t.Error("modern", diff)
			}
			if diff := cmp.Diff(test.legacy, r.Legacy); diff != "" {
				t.Error("legacy", diff)
			}
			if r.Revision != test.asked || r.Server.Name != "shop" || len(r.Tools) != 1 || len(r.Problems) > 0 {
				t.Errorf("%+v", r)
			}
			if _, err := json.Marshal(r); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestTextIsForATerminal(t *testing.T) {
	r, err := Look(t.Context(), Target{URL: serve(t, nil)})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := r.Text(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"shop 3 (The shop)\n", "2026-07-28 (stateless); 2025-11-25, ", "Tools: 1\n  buy(item string, n? integer)\n      Buys an item.[2J\n", "Ask first.\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Error("a control character came through")
	}
}
