package desired_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/controllers/mcpserver/desired"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// TestGoldens: a McpServer in, all its children out, with every byte pinned.
func TestGoldens(t *testing.T) {
	files, err := filepath.Glob("testdata/*/in.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no inputs: %v", err)
	}
	for _, file := range files {
		dir := filepath.Dir(file)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			in := load(t, file)
			before := in.Server.DeepCopy()
			got := render(t, in)
			if diff := cmp.Diff(before, in.Server); diff != "" {
				t.Errorf("the input was changed:\n%s", diff)
			}
			if again := render(t, in); !bytes.Equal(got, again) {
				t.Error("a second build gives other bytes")
			}
			golden := filepath.Join(dir, "out.yaml")
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatalf("%v: run go test -update", err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("run go test -update and look at the difference:\n%s", diff)
			}
		})
	}
}

func load(t *testing.T, file string) desired.Input {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := &v1alpha1.McpServer{}
	if err := yaml.UnmarshalStrict(data, s); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return input(s)
}

func input(s *v1alpha1.McpServer) desired.Input {
	return desired.Input{
		Server:    s,
		DataPlane: desired.DataPlane{Image: "registry.example/fairlead/sidecar:1.2.3", ImagePullPolicy: corev1.PullIfNotPresent},
		Operator:  &desired.Origin{Namespace: "fairlead-system", PodLabels: map[string]string{"app.kubernetes.io/name": "fairlead"}},
		Keys:      map[string][]byte{"k1": bytes.Repeat([]byte{7}, 32), "sealWith": []byte("k1")},
	}
}

// render writes all children as the API server would get them.
func render(t *testing.T, in desired.Input) []byte {
	t.Helper()
	live, digests, err := desired.LiveConfigMap(in)
	if err != nil {
		t.Fatal(err)
	}
	if len(digests.Newest()) != 64 || len(digests) != len(live.BinaryData) {
		t.Errorf("digests %v of %d versions", digests, len(live.BinaryData))
	}
	tpl, err := desired.MakeTemplate(in)
	if err != nil {
		t.Fatal(err)
	}
	objects := []any{
		desired.KeySecret(in), live, desired.ServiceAccount(in), desired.Service(in), desired.PodDisruptionBudget(in),
	}
	if desired.WantsNetworkPolicy(in.Server) {
		np, err := desired.NetworkPolicy(in)
		if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, np)
	}
	objects = append(objects, desired.Deployment(in, tpl, ""))
	var out bytes.Buffer
	for _, o := range objects {
		data, err := yaml.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString("---\n")
		out.Write(data)
	}
	return out.Bytes()
}
