package app

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/controllers/operatorconfig"
	"github.com/fairlead-dev/fairlead/test/testkit"
)

var plane testkit.ControlPlane

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(plane.Run(m))
}

func TestMainSaysWhatIsWrong(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(bad, []byte("apiVersion: config.fairlead.dev/v1alpha1\nkind: OperatorConfig\ncontroller: {concurrency: 1000}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		args []string
		code int
		says []string
	}{
		"help":                {args: []string{"--help"}, code: exitOK, says: []string{"-config", "-sidecar-image"}},
		"version":             {args: []string{"--version"}, code: exitOK},
		"unknown flag":        {args: []string{"--nope"}, code: exitUsage, says: []string{"nope"}},
		"argument":            {args: []string{"run"}, code: exitUsage, says: []string{"run"}},
		"unknown level":       {args: []string{"--log-level=LOUD"}, code: exitUsage, says: []string{"LOUD"}},
		"no such file":        {args: []string{"--config=/nonexistent"}, code: exitFailed, says: []string{"/nonexistent"}},
		"everything is wrong": {args: []string{"--config=" + bad}, code: exitFailed, says: []string{"controller.concurrency", "dataPlane.image", "leaderElection.namespace"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var out, errOut bytes.Buffer
			none := func(string) string { return "" }
			if code := Main(t.Context(), tc.args, none, &out, &errOut); code != tc.code {
				t.Errorf("exit code %d, want %d: %s", code, tc.code, errOut.String())
			}
			for _, s := range tc.says {
				if !strings.Contains(errOut.String(), s) {
					t.Errorf("%q does not say %s", errOut.String(), s)
				}
			}
			if name == "version" && strings.TrimSpace(out.String()) != Version() {
				t.Errorf("version %q", out.String())
			}
		})
	}
}

func TestOwnNamespace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "namespace")
	if err := os.WriteFile(file, []byte("from-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := func(v string) func(string) string { return func(string) string { return v } }
	for _, tc := range []struct{ env, file, want string }{
		{"from-env", file, "from-env"}, {"", file, "from-file"}, {"", "/nonexistent", ""},
	} {
		if got := ownNamespace(env(tc.env), tc.file); got != tc.want {
			t.Errorf("%+v: %q", tc, got)
		}
	}
}

// The manager's own listeners, and its metrics of servers.
func TestListeners(t *testing.T) {
	scheme, err := NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(plane.Config(t), client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	ns := testkit.Namespace(t, c)
	cfg, err := operatorconfig.LoadFile("", operatorconfig.Surroundings{Namespace: ns, DataPlaneImage: "registry.example/sidecar:1"})
	if err != nil {
		t.Fatal(err)
	}
	cfg.LeaderElection.Enabled = ptr.To(false)
	cfg.Watch.Namespaces = []string{ns}
	cfg.Metrics.BindAddress, cfg.Health.BindAddress = freeAddress(t), freeAddress(t)
	mgr, err := NewManager(plane.Config(t), Options{Config: cfg, Logger: logr.Discard(), Registerer: metrics.Registry, SkipNameValidation: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	if err := c.Create(t.Context(), &v1alpha1.McpServer{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "demo"},
		Spec:       v1alpha1.McpServerSpec{Workload: v1alpha1.Workload{Type: v1alpha1.WorkloadStdio, Image: "x", Command: []string{"/x"}}},
	}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct{ url, text string }{
		{"http://" + cfg.Health.BindAddress + "/healthz", "ok"},
		{"http://" + cfg.Health.BindAddress + "/readyz", "ok"},
		{"http://" + cfg.Metrics.BindAddress + "/metrics", fmt.Sprintf(`fairlead_server_info{name="demo",namespace=%q,protocol="",transport="stdio"} 1`, ns)},
		{"http://" + cfg.Metrics.BindAddress + "/metrics", fmt.Sprintf(`fairlead_server_condition{name="demo",namespace=%q,status="True",type="Accepted"} 1`, ns)},
		{"http://" + cfg.Metrics.BindAddress + "/metrics", `fairlead_reconcile_failures_total{class="Conflict"} 0`},
		{"http://" + cfg.Metrics.BindAddress + "/metrics", "controller_runtime_reconcile_total"},
	} {
		deadline := time.Now().Add(30 * time.Second)
		for {
			body, err := fetch(want.url)
			if err == nil && strings.Contains(body, want.text) {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s does not say %s: %v\n%.2000s", want.url, want.text, err, body)
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func fetch(url string) (string, error) {
	resp, err := http.Get(url) //nolint:gosec,noctx // a loopback address of this test
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d", resp.StatusCode)
	}
	return string(body), err
}
