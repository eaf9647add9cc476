package operatorconfig_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/fairlead-dev/fairlead/controllers/operatorconfig"
)

const head = "apiVersion: config.fairlead.dev/v1alpha1\nkind: OperatorConfig\n"

func TestDefaults(t *testing.T) {
	got, err := operatorconfig.LoadFile("", operatorconfig.Surroundings{Namespace: "fairlead-system", DataPlaneImage: "x:1"})
	if err != nil {
		t.Fatal(err)
	}
	want := operatorconfig.Config{
		APIVersion: operatorconfig.APIVersion, Kind: operatorconfig.Kind,
		DataPlane: operatorconfig.DataPlane{Image: "x:1", ImagePullPolicy: "IfNotPresent"},
		Operator: operatorconfig.Operator{Namespace: "fairlead-system", PodLabels: map[string]string{
			"app.kubernetes.io/name": "fairlead", "app.kubernetes.io/component": "manager",
		}},
		Controller: operatorconfig.Controller{Concurrency: 4, TimeoutSeconds: 60, StatusTimeoutSeconds: 2},
		LeaderElection: operatorconfig.LeaderElection{
			Enabled: ptr.To(true), Name: "fairlead-manager", Namespace: "fairlead-system", LeaseSeconds: 15, RenewSeconds: 10, RetrySeconds: 2,
		},
		Metrics: operatorconfig.Listener{BindAddress: ":8080"},
		Health:  operatorconfig.Listener{BindAddress: ":8081"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWhatTheFileSaysWins(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	file := head + "dataPlane: {image: mine:2, imagePullPolicy: Never}\noperator: {namespace: ops}\nwatch: {namespaces: [a, b]}\n" +
		"leaderElection: {enabled: false}\nmetrics: {bindAddress: \"0\"}\n"
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := operatorconfig.LoadFile(path, operatorconfig.Surroundings{Namespace: "other", DataPlaneImage: "x:1"})
	if err != nil {
		t.Fatal(err)
	}
	if got.DataPlane.Image != "mine:2" || got.Operator.Namespace != "ops" || *got.LeaderElection.Enabled || len(got.Watch.Namespaces) != 2 || got.Metrics.BindAddress != "0" {
		t.Errorf("%+v", got)
	}
}

func TestRefused(t *testing.T) {
	tests := map[string]struct {
		file string
		says []string
	}{
		"nothing":             {file: "", says: []string{"apiVersion", "kind"}},
		"another version":     {file: "apiVersion: config.fairlead.dev/v9\nkind: OperatorConfig\n", says: []string{"apiVersion", "v1alpha1"}},
		"an unknown member":   {file: head + "dataplane: {}\n", says: []string{"dataplane"}},
		"a member twice":      {file: head + "watch: {}\nwatch: {}\n", says: []string{"watch"}},
		"no YAML":             {file: "{", says: []string{"yaml"}},
		"no image":            {file: head, says: []string{"dataPlane.image", "mcp-sidecar"}},
		"an image with space": {file: head + "dataPlane: {image: 'a b'}\n", says: []string{"dataPlane.image"}},
		"everything at once": {
			file: head + "dataPlane: {image: x, imagePullPolicy: Sometimes}\noperator: {namespace: A, podLabels: {'-': x}}\n" +
				"watch: {namespaces: [a, a, '*']}\ncontroller: {concurrency: 99, timeoutSeconds: 1, statusTimeoutSeconds: 60}\n" +
				"leaderElection: {namespace: ns, name: A_B, retrySeconds: 99, renewSeconds: 3, leaseSeconds: 3}\n" +
				"metrics: {bindAddress: here}\nhealth: {bindAddress: there}\n",
			says: []string{
				"imagePullPolicy", "operator.namespace", "operator.podLabels", "watch.namespaces[1]", "watch.namespaces[2]",
				"controller.concurrency", "controller.timeoutSeconds", "controller.statusTimeoutSeconds",
				"leaderElection.name", "leaderElection.retrySeconds", "leaderElection.renewSeconds", "leaderElection.leaseSeconds",
				"metrics.bindAddress", "health.bindAddress",
			},
		},
		"leader election out of the cluster": {file: head + "dataPlane: {image: x}\n", says: []string{"leaderElection.namespace"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := operatorconfig.Load([]byte(tc.file), operatorconfig.Surroundings{})
			if err == nil {
				t.Fatal("accepted")
			}
			for _, s := range tc.says {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("%q does not name %s", err, s)
				}
			}
		})
	}
}

func TestFilesThatCannotBeRead(t *testing.T) {
	if _, err := operatorconfig.LoadFile(filepath.Join(t.TempDir(), "none"), operatorconfig.Surroundings{}); err == nil {
		t.Error("a missing file is accepted")
	}
	big := filepath.Join(t.TempDir(), "big")
	if err := os.WriteFile(big, make([]byte, 2<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := operatorconfig.LoadFile(big, operatorconfig.Surroundings{}); err == nil || !strings.Contains(err.Error(), "larger") {
		t.Errorf("error %v", err)
	}
}
