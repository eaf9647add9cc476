package http

import (
	"context"
	"errors"
	"fmt"
	"io"
	nethttp "net/http"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/sidecar/config"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

const discovered = `"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"new","version":"7"}}}`

// era answers server/discover: a status alone, or one with the members of an
// answer; "" hangs. refuse lets initialize fail.
func era(status int, discover string, refuse bool) func(nethttp.ResponseWriter, *jsonrpc.Message) bool {
	return func(w nethttp.ResponseWriter, m *jsonrpc.Message) bool {
		switch m.Method {
		case "server/discover":
			if discover == "hang" {
				time.Sleep(time.Minute)
			}
			w.WriteHeader(status)
			if discover != "" {
				_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+m.ID.String()+`,`+discover+`}`)
			}
			return true
		case "initialize":
			if refuse {
				w.WriteHeader(404)
				_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+m.ID.String()+`,"error":{"code":-32601,"message":"no"}}`)
			}
			return refuse
		}
		return false
	}
}

func TestWhatTheEraIsFoundOutFrom(t *testing.T) { // B19.6, B1.2, B1.3
	for name, tc := range map[string]struct {
		status   int
		discover string
		refuse   bool
		want     string
	}{
		"a DiscoverResult is modern":                       {200, discovered, true, "modern new"},
		"a DiscoverResult and a handshake are both":        {200, discovered, false, "dual new"},
		"-32601 leads to initialize":                       {404, `"error":{"code":-32601,"message":"no"}`, false, "legacy fake"},
		"-32602 leads to initialize":                       {200, `"error":{"code":-32602,"message":"no"}`, false, "legacy fake"},
		"-32000 leads to initialize":                       {400, `"error":{"code":-32000,"message":"session required"}`, false, "legacy fake"},
		"400 alone leads to initialize":                    {400, "", false, "legacy fake"},
		"an empty answer leads to initialize":              {200, "", false, "legacy fake"},
		"another result leads to initialize":               {200, `"result":{}`, false, "legacy fake"},
		"silence leads to initialize":                      {200, "hang", false, "legacy fake"},
		"-32022 with legacy revisions leads there too":     {400, `"error":{"code":-32022,"message":"no","data":{"supported":["2025-06-18"]}}`, false, "legacy fake"},
		"-32022 with a revision from the future ends it":   {400, `"error":{"code":-32022,"message":"no","data":{"supported":["2030-01-01"]}}`, false, "BadHandshake"},
		"-32020 is our fault and ends it":                  {400, `"error":{"code":-32020,"message":"no"}`, false, "BadHandshake"},
		"401 says nothing":                                 {401, "", false, "HTTPStatus"},
		"403 says nothing":                                 {403, "", false, "HTTPStatus"},
		"429 says nothing":                                 {429, "", false, "HTTPStatus"},
		"503 says nothing":                                 {503, "", false, "HTTPStatus"},
		"no answer to either is a workload of no use":      {404, `"error":{"code":-32601,"message":"no"}`, true, "BadHandshake"},
		"a workload that does not answer at all is waited": {200, "hang", true, "BadHandshake"},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, Config{}, func(t *testing.T, w *Workload, s *server) {
				s.answer(era(tc.status, tc.discover, tc.refuse))
				info, err := w.Handshake(t.Context())
				got := string(info.Era) + " " + info.Name
				var h *upstream.HandshakeError
				if errors.As(err, &h) {
					got = h.Reason
				} else if err != nil {
					t.Fatal(err)
				}
				if got != tc.want {
					t.Errorf("got %q (%v), want %q", got, err, tc.want)
				}
				if known := w.era.Known(); err != nil && known != "" {
					t.Errorf("nothing was found out, and the verdict is %q", known)
				}
				time.Sleep(time.Minute)
			})
		})
	}
}

func TestNobodyThereSaysNothing(t *testing.T) { // B19.6, B1.2, P1
	virtual(t, Config{Hold: 10 * time.Second}, func(t *testing.T, w *Workload, s *server) {
		s.answer(era(200, discovered, true))
		s.set(true)
		var h *upstream.HandshakeError
		if _, err := w.Handshake(t.Context()); !errors.As(err, &h) || h.Reason != config.ReasonRefused {
			t.Error(err)
		}
		time.AfterFunc(5*time.Second, func() { s.set(false) })
		if e, err := w.Era(t.Context()); e != upstream.EraModern || err != nil { // held
			t.Error(e, err)
		}
	})
}

func TestConfigurationWinsOverTheProbe(t *testing.T) { // B1.1
	for _, want := range []upstream.Era{upstream.EraLegacy, upstream.EraModern} {
		virtual(t, Config{Era: want}, func(t *testing.T, w *Workload, s *server) {
			s.answer(era(200, discovered, false))
			info, err := w.Handshake(t.Context())
			if err != nil || info.Era != want || s.count(" server/discover") > 0 == (want == upstream.EraLegacy) {
				t.Errorf("%+v %v %v", info, err, s.log)
			}
		})
	}
}

func TestAContradictionIsLookedInto(t *testing.T) { // B1.5
	virtual(t, Config{}, func(t *testing.T, w *Workload, s *server) {
		s.answer(era(200, discovered, true))
		if info, err := w.Handshake(t.Context()); err != nil || info.Era != upstream.EraModern {
			t.Fatal(info, err)
		}
		s.answer(era(404, `"error":{"code":-32601,"message":"no"}`, false))
		if _, err := w.Handshake(t.Context()); err == nil {
			t.Error("a workload of another era passed for the old one")
		}
		if info, err := w.Handshake(t.Context()); err != nil || info.Era != upstream.EraLegacy {
			t.Error(info, err)
		}
	})
}

func TestAWorkloadThatBecomesModern(t *testing.T) { // B19.6, B1.5
	virtual(t, Config{}, func(t *testing.T, w *Workload, s *server) {
		s.answer(era(404, `"error":{"code":-32601,"message":"no"}`, false))
		if info, err := w.Handshake(t.Context()); err != nil || info.Era != upstream.EraLegacy {
			t.Fatal(info, err)
		}
		s.forget()
		s.answer(era(200, discovered, true))
		if _, err := w.Handshake(t.Context()); err == nil {
			t.Error("a workload of another era passed for the old one")
		}
		if info, err := w.Handshake(t.Context()); err != nil || info.Era != upstream.EraModern {
			t.Error(info, err)
		}
	})
}

func TestTheConversation(t *testing.T) { // B3.5, B5.7, P1, W18.4
	virtual(t, Config{}, func(t *testing.T, w *Workload, s *server) {
		s.answer(func(rw nethttp.ResponseWriter, m *jsonrpc.Message) bool {
			if m.Method == "tools/call" {
				_, _ = io.WriteString(rw, `{"jsonrpc":"2.0","id":`+m.ID.String()+`,"result":{"ok":1}}`)
				return true
			}
			return era(200, discovered, true)(rw, m)
		})
		talk, err := w.Conversation(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s.set(true)
		w.conns.kept.CloseIdleConnections()
		time.AfterFunc(5*time.Second, func() { s.set(false) })
		answer, err := talk.Call(t.Context(), peer.Request{Method: "tools/call", Params: []byte(`{}`)})
		if got := fmt.Sprint(string(answer.Result), err, talk.Headers()); got != `{"ok":1}<nil> true` {
			t.Error(got)
		}
		if s.count(" GET") > 0 || s.count(" notifications/initialized") > 0 {
			t.Error(s.log)
		}
	})
}

func TestAPortThatNeverSaysAWord(t *testing.T) { // B1.2, W5.16
	virtual(t, Config{}, func(t *testing.T, w *Workload, s *server) {
		s.answer(func(nethttp.ResponseWriter, *jsonrpc.Message) bool {
			time.Sleep(time.Minute)
			return true
		})
		ctx, stop := context.WithTimeout(t.Context(), 40*time.Second)
		defer stop()
		begun := time.Now()
		_, err := w.Handshake(ctx)
		var h *upstream.HandshakeError
		if !errors.As(err, &h) || h.Reason != config.ReasonNoAnswer || time.Since(begun) != DefaultStartup {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		time.Sleep(2 * time.Minute)
	})
}
