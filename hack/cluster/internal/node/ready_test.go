package node

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/hack/cluster/internal/instance"
	"github.com/fairlead-dev/fairlead/hack/cluster/internal/nodeconf"
	"github.com/fairlead-dev/fairlead/hack/cluster/internal/supervisor"
)

func TestNodeCondition(t *testing.T) {
	for name, tc := range map[string]struct{ body, want string }{
		"ready":              {`{"status":{"conditions":[{"type":"MemoryPressure","status":"False"},{"type":"Ready","status":"True"}]}}`, ""},
		"not ready":          {`{"status":{"conditions":[{"type":"Ready","status":"False","message":"no CNI config"}]}}`, "no CNI config"},
		"unknown":            {`{"status":{"conditions":[{"type":"Ready","status":"Unknown"}]}}`, "not ready"},
		"just registered":    {`{"status":{}}`, "no Ready condition"},
		"not even an answer": {`<html>`, "invalid character"},
	} {
		t.Run(name, func(t *testing.T) {
			err := nodeCondition([]byte(tc.body))
			if tc.want == "" && err != nil {
				t.Error(err)
			}
			if tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("error %v, want one about %q", err, tc.want)
			}
		})
	}
}

func TestPlainWantsOK(t *testing.T) {
	status := http.StatusServiceUnavailable
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	defer srv.Close()
	check := plain(srv.URL)
	if err := check(t.Context()); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("error %v", err)
	}
	status = http.StatusOK
	if err := check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestEveryComponentIsSupervised(t *testing.T) {
	i, err := instance.New("test", "/src", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	list := units(nodeconf.For(i, "/tools", ""), &apiClient{}, []string{"cluster", "registry-serve"})
	for _, u := range list {
		if len(u.Argv) == 0 || u.Ready == nil {
			t.Errorf("%s: command line %q, readiness check %t", u.Name, u.Argv, u.Ready != nil)
		}
	}
	if len(list) != 8 {
		t.Errorf("%d components", len(list))
	}
	if _, err := supervisor.New(t.TempDir(), nil, list); err != nil {
		t.Error(err)
	}
}

func TestInitRefusesToRunOnTheMachineItself(t *testing.T) {
	if err := Init(instance.Instance{}, []string{"true"}); err == nil || !strings.Contains(err.Error(), "cluster up") {
		t.Errorf("error %v", err)
	}
}
