package stdio

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/sidecar/agent"
	"github.com/fairlead-dev/fairlead/sidecar/config"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

const discovered = `"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"new","version":"7"}}}`

// era makes a program: what it answers to server/discover and to initialize; ""
// is silence, "exit" an end.
func era(discover, initialize string) program {
	return func(c *child, m *jsonrpc.Message) {
		say := func(text string) {
			switch text {
			case "":
			case "exit":
				c.end(agent.Exit{Code: 4})
			default:
				c.say(`{"jsonrpc":"2.0","id":` + m.ID.String() + `,` + text + `}`)
			}
		}
		switch m.Method {
		case "server/discover":
			say(discover)
		case "initialize":
			say(initialize)
		default:
			polite(c, m)
		}
	}
}

const (
	initialized = `"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"old","version":"1"}}`
	unknown     = `"error":{"code":-32601,"message":"what?"}`
)

func TestWhatTheEraIsFoundOutFrom(t *testing.T) { // B19.6, B1.2, B1.4, P19
	for name, tc := range map[string]struct {
		discover, initialize string
		want                 string
		left                 int
		took                 time.Duration
	}{
		"an answer to initialize alone is legacy":                {unknown, initialized, "legacy old", 1, 0},
		"silence on the probe is legacy":                         {"", initialized, "legacy old", 1, time.Second},
		"an exit on the probe is legacy":                         {"exit", initialized, "legacy old", 1, 0},
		"a result that is no DiscoverResult is legacy":           {`"result":{}`, initialized, "legacy old", 1, 0},
		"a DiscoverResult with legacy revisions only is legacy":  {`"result":{"supportedVersions":["2025-11-25"]}`, initialized, "legacy old", 1, 0},
		"-32022 with legacy revisions only is legacy":            {`"error":{"code":-32022,"message":"no","data":{"supported":["2025-06-18"]}}`, initialized, "legacy old", 1, 0},
		"an answer to the probe alone is modern":                 {discovered, unknown, "modern new", 1, 0},
		"silence on initialize is modern":                        {discovered, "", "modern new", 1, time.Second},
		"an exit on initialize is modern":                        {discovered, "exit", "modern new", 1, 0},
		"answers to both are both":                               {discovered, initialized, "dual new", 1, 0},
		"a modern revision that we do not speak is no era":       {`"error":{"code":-32022,"message":"no","data":{"supported":["2027-01-01"]}}`, unknown, "BadHandshake", 0, 0},
		"a modern workload that refuses the probe is no era":     {`"error":{"code":-32020,"message":"no"}`, unknown, "BadHandshake", 0, 0},
		"a workload that ends on both is no era":                 {"exit", "exit", "Exited 4", 0, 0},
		"a workload that is silent on both is no era":            {"", "", "NoAnswer", 0, 30 * time.Second},
		"a workload that refuses both is no era, and tells more": {unknown, unknown, "BadHandshake", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, Config{}, func(t *testing.T, r *rig) {
				r.program = era(tc.discover, tc.initialize)
				began := time.Now()
				info, err := r.Handshake(t.Context())
				if took := time.Since(began); took != tc.took {
					t.Errorf("took %v, want %v", took, tc.took)
				}
				got := string(info.Era) + " " + info.Name
				var h *upstream.HandshakeError
				if errors.As(err, &h) {
					got = h.Reason
					if h.ExitCode != nil {
						got += " " + fmt.Sprint(*h.ExitCode)
					}
				} else if err != nil {
					t.Fatal(err)
				}
				if got != tc.want {
					t.Errorf("got %q (%v), want %q", got, err, tc.want)
				}
				if len(r.children) != 2 {
					t.Errorf("%d processes were started", len(r.children))
				}
				time.Sleep(10 * time.Second) // whoever has to be killed is dead
				if n := r.Processes(); n != tc.left {
					t.Errorf("%d processes are left, want %d", n, tc.left)
				}
				if err != nil {
					return
				}
				// The verdict is kept, and what was started for it too.
				if e, err := r.Era(t.Context()); e != info.Era || err != nil {
					t.Error(e, err)
				}
				if again, err := r.Handshake(t.Context()); err != nil || again.Era != info.Era || len(r.children) != 2 {
					t.Errorf("again: %+v %v, %d processes", again, err, len(r.children))
				}
			})
		})
	}
}

func TestConfigurationWinsOverTheProbe(t *testing.T) { // B1.1
	for want, initialize := range map[upstream.Era]string{upstream.EraLegacy: initialized, upstream.EraModern: initialized} {
		virtual(t, Config{Era: want}, func(t *testing.T, r *rig) {
			r.program = era(discovered, initialize)
			info, err := r.Handshake(t.Context())
			if err != nil || info.Era != want || len(r.children) != 1 {
				t.Errorf("%+v %v, %d processes", info, err, len(r.children))
			}
		})
	}
}

func TestWithRoomForOneTheProbeGoesFirst(t *testing.T) { // P19
	for name, tc := range map[string]struct {
		discover, want string
		started        int
	}{
		"modern": {discovered, "modern", 1},
		"legacy": {unknown, "legacy", 2},
		"silent": {"", "legacy", 2},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, Config{MaxProcesses: 1}, func(t *testing.T, r *rig) {
				r.program = era(tc.discover, initialized)
				info, err := r.Handshake(t.Context())
				if err != nil || string(info.Era) != tc.want || len(r.children) != tc.started {
					t.Errorf("%+v %v, %d processes", info, err, len(r.children))
				}
			})
		})
	}
}

func TestTheProbeCountsAsAProcess(t *testing.T) { // P19
	virtual(t, Config{MaxProcesses: 2}, func(t *testing.T, r *rig) {
		r.program = era("", initialized)
		done := make(chan error, 1)
		go func() {
			_, err := r.Handshake(t.Context())
			done <- err
		}()
		synctest.Wait()
		if n := r.Processes(); n != 2 {
			t.Errorf("%d processes while the era is found out", n)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		r.wantEnds(EndProbe)
	})
}

func TestAContradictionIsLookedInto(t *testing.T) { // B19.6, B1.5
	virtual(t, Config{}, func(t *testing.T, r *rig) {
		r.program = era(discovered, unknown)
		if info, err := r.Handshake(t.Context()); err != nil || info.Era != upstream.EraModern {
			t.Fatal(info, err)
		}
		// Another image, in the same container.
		r.program = era(unknown, initialized)
		r.children[0].end(agent.Exit{Code: 1})
		r.children[1].end(agent.Exit{Code: 1})
		synctest.Wait()
		var h *upstream.HandshakeError
		if err := r.Pool.Check(t.Context()); !errors.As(err, &h) || h.Reason != config.ReasonExited || *h.ExitCode != 1 {
			t.Errorf("the conversation's process has gone, and Check says %v", err)
		}
		if _, err := r.Handshake(t.Context()); !errors.Is(err, upstream.ErrNotModern) {
			t.Error(err)
		}
		if info, err := r.Handshake(t.Context()); err != nil || info.Era != upstream.EraLegacy {
			t.Error(info, err)
		}
	})
}

func TestTheConversation(t *testing.T) { // B3.5, B3.8, W18.4, W18.9
	virtual(t, Config{Idle: time.Minute}, func(t *testing.T, r *rig) {
		var wrote []string
		r.program = func(c *child, m *jsonrpc.Message) {
			if m.Kind == jsonrpc.KindResponse {
				wrote = append(wrote, "an answer")
			}
			if m.Method == "ask" {
				c.say(`{"jsonrpc":"2.0","id":"q","method":"ping"}`)
			}
			era(discovered, unknown)(c, m)
		}
		talk, err := r.Conversation(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if d := talk.Discovered(); d.Name != "new" || d.Revision != "2026-07-28" || talk.Headers() {
			t.Errorf("%+v", d)
		}
		call := func(method string) string {
			answer, err := talk.Call(t.Context(), peer.Request{Method: method})
			return fmt.Sprint(string(answer.Result), err)
		}
		first := call("ask")
		time.Sleep(time.Hour) // nobody's process idles
		if got := call("x"); got != first || len(wrote) > 0 {
			t.Errorf("%s, %s, %v", first, got, wrote)
		}
		// In flight when the process dies: lost. The next one is served by the
		// next process.
		if got := call("die"); !strings.Contains(got, string(peer.Ended)) {
			t.Error(got)
		}
		if got := call("x"); got != `{"n":3}<nil>` {
			t.Error(got)
		}
		if err := r.Pool.Check(t.Context()); err != nil {
			t.Error(err)
		}
		if d, err := talk.Discover(t.Context()); err != nil || d.Name != "new" {
			t.Error(d, err)
		}
	})
}
