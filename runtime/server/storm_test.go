package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/server"
)

// A reader that does not read loses its own; nobody else waits for it (P18).
func TestASlowReaderHoldsNobodyUp(t *testing.T) {
	s := watched(t, server.Options{})
	r := newRig(t, s)
	for _, revision := range []string{mcp.Revision20251125, mcp.Revision20260728} {
		stalled := r.connect(revision, `{}`)
		if stalled.modern {
			resp := stalled.begin("subscriptions/listen", `{"notifications":{"resourceSubscriptions":["x:a"]}}`)
			t.Cleanup(func() { _ = resp.Body.Close() })
			continue
		}
		stalled.must("resources/subscribe", `{"uri":"x:a"}`)
		stalled.unread()
	}
	p := r.connect(mcp.Revision20260728, `{}`)
	healthy, _ := p.listen(`{"toolsListChanged":true,"promptsListChanged":true}`)
	big := map[string]string{"text": strings.Repeat("x", 64<<10)}
	for i := range 500 {
		must(t, s.Broadcast("notifications/big", big)) // 32 MB for the one that does not read
		s.ResourceUpdated("x:a")
		if i%50 == 0 {
			must(t, s.AddTool(server.Tool{Name: fmt.Sprint("slow", i)}, nothing))
		}
	}
	must(t, s.AddPrompt(server.Prompt{Name: "last"}, nil))
	healthy.methods(mcp.NotifyPromptsChanged)
}

// unread opens the standalone stream of a session and does not read it.
func (p *peer) unread() {
	p.t.Helper()
	resp := p.openGet()
	p.t.Cleanup(func() { _ = resp.Body.Close() })
}

// Everything at once, for the race detector: nothing is lost of what stays.
func TestRegistriesChangeWhileTheyAreUsed(t *testing.T) {
	opened, closed := make(chan dispatch.Session, 64), make(chan dispatch.Session, 64)
	s := watched(t, server.Options{
		PageSize: 3,
		Opened:   func(session dispatch.Session) { opened <- session },
		Closed:   func(session dispatch.Session, _ error) { closed <- session },
	})
	r := newRig(t, s)
	ctx, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer stop()
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				name := fmt.Sprintf("storm-%d-%d", i, n%5)
				_ = s.AddTool(server.Tool{Name: name}, nothing)
				_ = s.AddResource(server.Resource{URI: "x:" + name}, text)
				s.ResourceUpdated("x:a")
				s.RemoveTools(name)
				s.RemoveResources("x:" + name)
			}
		})
	}
	sessions := 0
	for _, revision := range []string{mcp.Revision20250326, mcp.Revision20251125, mcp.Revision20260728, mcp.Revision20260728} {
		p := r.connect(revision, `{}`)
		if p.modern {
			p.listen(`{"toolsListChanged":true,"resourceSubscriptions":["x:a"]}`)
		} else {
			sessions++
			p.must("resources/subscribe", `{"uri":"x:a"}`)
			p.get()
		}
		wg.Go(func() {
			for ctx.Err() == nil {
				found := false
				for _, page := range pages(t, p, "tools/list", "tools") {
					for _, name := range page {
						found = found || name == "t"
					}
				}
				if !found {
					t.Error("the tool that stays is not listed")
				}
				p.must("tools/call", `{"name":"t"}`)
				p.must("resources/read", `{"uri":"x:b"}`)
			}
		})
	}
	wg.Wait()
	r.front.Cut(dispatch.ErrShutdown)
	for range sessions {
		<-opened
		<-closed
	}
}

// Choices of a typed prompt and a typed template complete themselves.
func TestChoicesCompleteThemselves(t *testing.T) {
	type in struct {
		Color string `json:"color" schema:"enum=red|rose|green"`
		Size  string `json:"size,omitempty" schema:"enum=s|m,titles=Small|Medium"`
	}
	s := server.New(server.Info{Name: "s"}, server.Options{})
	must(t, server.AddPrompt(s, server.Prompt{Name: "p"}, func(*server.Context, in) (server.PromptOutcome, error) { return nil, nil }))
	must(t, server.AddTemplate(s, server.Template{URITemplate: "x:{color}/{size}"}, func(*server.Context, string, in) (server.ResourceOutcome, error) { return nil, nil }))
	p := newRig(t, s).connect(mcp.Revision20260728, `{}`)
	if got := field(p.must("server/discover", ""), "capabilities", "completions"); got != "{}" {
		t.Errorf("completions: %s", got)
	}
	for _, ref := range []string{`{"type":"ref/prompt","name":"p"}`, `{"type":"ref/resource","uri":"x:{color}/{size}"}`} {
		for argument, want := range map[string]string{`{"name":"color","value":"r"}`: `["red","rose"]`, `{"name":"size","value":""}`: `["s","m"]`, `{"name":"size","value":"x"}`: `[]`, `{"name":"none","value":""}`: `[]`} {
			got := field(p.must("completion/complete", fmt.Sprintf(`{"ref":%s,"argument":%s}`, ref, argument)), "completion", "values")
			if !json.Valid([]byte(got)) || got != want {
				t.Errorf("%s %s: %s", ref, argument, got)
			}
		}
	}
}
