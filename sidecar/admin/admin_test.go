package admin

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/fairlead-dev/fairlead/sidecar/config"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func yes() string { return "" }

func ask(s Source, method, path string) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	Handler(s).ServeHTTP(rec, httptest.NewRequest(method, path, nil))
	return rec
}

func TestProbesSayYesOrWhyNot(t *testing.T) {
	s := Source{Live: yes, Started: yes, Ready: func() string { return "draining" }, Status: func() config.Status { return config.Status{} }}
	for path, want := range map[string]struct {
		code int
		body string
	}{
		"/livez":   {200, "ok\n"},
		"/startup": {200, "ok\n"},
		"/readyz":  {503, "draining\n"},
		"/":        {404, "not found\n"},
		"/livez/":  {404, "not found\n"},
		"/drain":   {404, "not found\n"}, // O3: nothing here changes state
		"/metrics": {404, "not found\n"},
	} {
		if rec := ask(s, http.MethodGet, path); rec.Code != want.code || rec.Body.String() != want.body {
			t.Errorf("GET %s: %d %q, want %d %q", path, rec.Code, rec.Body, want.code, want.body)
		}
	}
}

func TestOnlyGET(t *testing.T) {
	s := Source{Live: yes, Started: yes, Ready: yes, Status: func() config.Status { return config.Status{} }}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodHead, http.MethodOptions, http.MethodPatch} {
		for _, path := range []string{config.PathLivez, config.PathReadyz, config.PathStartup, config.PathStatus} {
			if rec := ask(s, method, path); rec.Code != http.StatusMethodNotAllowed || rec.Header().Get("Allow") != http.MethodGet {
				t.Errorf("%s %s: %d, Allow %q", method, path, rec.Code, rec.Header().Get("Allow"))
			}
		}
	}
}

// O6
func TestStatusIsTheContract(t *testing.T) {
	code := 3
	want := config.Status{
		PodUID: "u", BootHash: "1-00", ContractVersion: 1, LiveDigest: "d", LiveError: "e", Draining: true,
		Workload: config.WorkloadStatus{State: config.WorkloadFailed, Reason: config.ReasonExited, ExitCode: &code, StderrTail: []string{"x"}},
		Keys:     config.KeyStatus{SealWith: "a", IDs: []string{"a", "b"}},
		Counts:   config.Counts{Sessions: 1, Active: 2, Streams: 3, Processes: 4},
	}
	rec := ask(Source{Status: func() config.Status { return want }}, http.MethodGet, config.PathStatus)
	if ct := rec.Header().Get("Content-Type"); ct != "application/json" {
		t.Errorf("Content-Type %q", ct)
	}
	var got config.Status
	d := json.NewDecoder(strings.NewReader(rec.Body.String()))
	d.DisallowUnknownFields()
	if err := d.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAHeartThatIsStuckIsNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := make(chan struct{})
		begun := time.Now()
		h := NewHeart(func() {
			if time.Since(begun) >= time.Minute {
				<-stuck // as a deadlock would
			}
		})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); h.Run(ctx) }()
		time.Sleep(time.Minute)
		if why := h.Beats(); why != "" {
			t.Errorf("a beating heart is %q", why)
		}
		time.Sleep(beatLate + beatEvery)
		if h.Beats() == "" {
			t.Error("a stuck heart still beats")
		}
		close(stuck)
		time.Sleep(beatEvery)
		if why := h.Beats(); why != "" {
			t.Errorf("a heart that goes on is %q", why)
		}
		cancel()
		<-done
	})
}
