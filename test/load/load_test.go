package load

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

func config(f *fake) Config {
	return Config{
		URL: f.URL + "/mcp", Duration: 300 * time.Millisecond, Modern: 2, Rate: 100, Legacy: 2,
		Fast: Tool{"fast", "{}"}, Slow: Tool{"slow", `{"ms":{ms}}`}, SlowMin: 2 * time.Millisecond, SlowMax: 8 * time.Millisecond,
		Pod: regexp.MustCompile(`pod=(\w+)`), Seed: 1,
	}
}

func run(t *testing.T, cfg Config) *Report {
	t.Helper()
	r, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestEveryCallOfBothErasIsCounted(t *testing.T) {
	f := newFake(t)
	r := run(t, config(f))
	if r.Failed != 0 || r.Skipped != 0 {
		t.Fatalf("%s: %+v", r, r.Failures)
	}
	m, l := r.Sum(modernRevision), r.Sum(legacyRevision)
	if m.Calls == 0 || m.Calls != f.calls["modern"] {
		t.Errorf("modern: %d counted, %d seen by the endpoint", m.Calls, f.calls["modern"])
	}
	if l.Calls == 0 || l.Calls != f.calls["legacy"] {
		t.Errorf("legacy: %d counted, %d seen by the endpoint", l.Calls, f.calls["legacy"])
	}
	if l.Sessions != 2 || l.PostsGone != 0 || l.StreamsLost != 0 {
		t.Errorf("sessions: %+v", l)
	}
	if fast := r.Calls - r.SlowCalls; r.SlowCalls == 0 || fast-r.SlowCalls > 4 || r.Pods["a"] != fast {
		t.Errorf("%d slow, %d fast, pods %v: every second call is slow, every fast one names its pod", r.SlowCalls, fast, r.Pods)
	}
}

func TestALostSessionCostsOneRefusedPostAndNoCall(t *testing.T) {
	f := newFake(t)
	time.AfterFunc(100*time.Millisecond, f.forget)
	cfg := config(f)
	cfg.Modern = 0
	r := run(t, cfg)
	l := r.Sum(legacyRevision)
	if r.Failed != 0 || l.Sessions != 4 || l.PostsGone != 2 || l.Stillborn != 0 {
		t.Errorf("%+v %+v", l, r.Failures)
	}
}

func TestASessionRefusedAtItsFirstCallIsStillborn(t *testing.T) {
	f := newFake(t)
	f.fault = func(_ int, w http.ResponseWriter, _ *http.Request) bool {
		http.Error(w, "unknown session", http.StatusNotFound)
		return true
	}
	cfg := config(f)
	cfg.Modern, cfg.Legacy, cfg.Duration = 0, 1, 50*time.Millisecond
	if l := run(t, cfg).Sum(legacyRevision); l.Stillborn == 0 || l.Stillborn != l.PostsGone || l.Calls != 0 {
		t.Errorf("%+v", l)
	}
}

func TestWhatGoesWrongFailsTheCallAndIsNeverRetried(t *testing.T) {
	faults := map[string]struct {
		do   func(w http.ResponseWriter, r *http.Request)
		says string
	}{
		"the connection is cut before the head": {func(w http.ResponseWriter, _ *http.Request) {
			panic(http.ErrAbortHandler)
		}, "EOF"},
		"the connection is cut in mid-stream": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, "EOF"},
		"the stream ends without the answer": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
		}, "without the answer"},
		"the endpoint is overloaded": {func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "busy", http.StatusServiceUnavailable)
		}, "503"},
		"the answer is an error": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write([]byte("data: {\"id\":1,\"error\":{\"code\":-32603,\"message\":\"gone\"}}\n\n"))
		}, "-32603"},
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.Config.ErrorLog = nil
			f.fault = func(n int, w http.ResponseWriter, r *http.Request) bool {
				if n != 1 {
					return false
				}
				fault.do(w, r)
				return true
			}
			cfg := config(f)
			cfg.Legacy, cfg.Modern, cfg.Rate, cfg.Duration = 0, 1, 50, 100*time.Millisecond
			r := run(t, cfg)
			if r.Failed != 1 || len(r.Failures) != 1 || !strings.Contains(r.Failures[0].Error, fault.says) {
				t.Errorf("%d failed: %+v", r.Failed, r.Failures)
			}
			if r.Calls != f.calls["modern"] {
				t.Errorf("%d calls, but the endpoint saw %d requests", r.Calls, f.calls["modern"])
			}
		})
	}
}

func TestAConnectionClosedByTheEndpointIsNoFailure(t *testing.T) {
	f := newFake(t)
	f.fault = func(_ int, w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Connection", "close")
		return false
	}
	if r := run(t, config(f)); r.Failed != 0 || r.Calls == 0 {
		t.Errorf("%s: %+v", r, r.Failures)
	}
}

func TestConfigRefusesOtherTargetsAndNonsense(t *testing.T) {
	good := Config{URL: "http://127.0.0.1:1/mcp", Duration: time.Second, Modern: 1, Rate: 1, Fast: Tool{"a", "{}"}}
	cases := map[string]struct {
		edit func(*Config)
		ok   bool
	}{
		"loopback":                  {func(*Config) {}, true},
		"loopback, v6":              {func(c *Config) { c.URL = "http://[::1]:1/mcp" }, true},
		"a service of the cluster":  {func(c *Config) { c.URL = "http://10.96.3.4/mcp" }, true},
		"a pod of the cluster":      {func(c *Config) { c.URL = "http://10.244.0.7:17080/mcp" }, true},
		"another private address":   {func(c *Config) { c.URL = "http://10.0.0.1/mcp" }, false},
		"a public address":          {func(c *Config) { c.URL = "http://192.0.2.1/mcp" }, false},
		"a name":                    {func(c *Config) { c.URL = "http://localhost/mcp" }, false},
		"another scheme":            {func(c *Config) { c.URL = "https://127.0.0.1/mcp" }, false},
		"no clients":                {func(c *Config) { c.Modern = 0 }, false},
		"too many clients":          {func(c *Config) { c.Modern = maxClients + 1 }, false},
		"without end":               {func(c *Config) { c.Duration = time.Hour }, false},
		"without a rate":            {func(c *Config) { c.Rate = 0 }, false},
		"slow calls without bounds": {func(c *Config) { c.Slow.Name = "s" }, false},
		"a pattern without a group": {func(c *Config) { c.Pod = regexp.MustCompile("x") }, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cfg := good
			c.edit(&cfg)
			if err := cfg.Validate(); (err == nil) != c.ok {
				t.Errorf("%v", err)
			}
		})
	}
}
