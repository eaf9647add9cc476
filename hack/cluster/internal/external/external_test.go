package external

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOnlyAForeignKubeconfigIsTaken(t *testing.T) {
	const cache = "/src/.cache"
	for name, tc := range map[string]struct {
		value string
		want  bool
	}{
		"unset":                       {"", false},
		"one of ours":                 {"/src/.cache/cluster/dev/pki/admin.kubeconfig", false},
		"a user's":                    {"/home/me/.kube/config", true},
		"a list with ours in it":      {"/home/me/.kube/config:/src/.cache/cluster/e2e/pki/admin.kubeconfig", false},
		"a folder that looks similar": {"/src/.cache/clusters/kubeconfig", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBECONFIG", tc.value)
			if _, got := Find(cache); got != tc.want {
				t.Errorf("got %t, want %t", got, tc.want)
			}
		})
	}
}

// fakes puts a kubectl with a current context and a kind that notes its
// arguments into PATH.
func fakes(t *testing.T, context string) (kindArgs string) {
	t.Helper()
	dir := t.TempDir()
	kindArgs = filepath.Join(dir, "kind.args")
	for name, script := range map[string]string{
		"kubectl": "#!/bin/sh\ncase \"$*\" in *current-context*) echo " + context + ";; *readyz*) [ " + context + " != down ] || { echo refused >&2; exit 1; };; esac\n",
		"kind":    "#!/bin/sh\necho \"$*\" >> " + kindArgs + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return kindArgs
}

func TestLoadHandsArchivesToKind(t *testing.T) {
	args := fakes(t, "kind-mine")
	c := Cluster{Kubeconfig: "x"}
	if err := c.Load(t.Context(), &bytes.Buffer{}, "a.tar", "b.tar"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(args)
	if err != nil {
		t.Fatal(err)
	}
	if want := "load image-archive a.tar --name mine\nload image-archive b.tar --name mine\n"; string(got) != want {
		t.Errorf("kind was called with %q, want %q", got, want)
	}
}

func TestLoadIntoAnythingElseSaysWhatToDo(t *testing.T) {
	fakes(t, "production")
	err := Cluster{Kubeconfig: "x"}.Load(t.Context(), &bytes.Buffer{}, "a.tar")
	if err == nil || !strings.Contains(err.Error(), "registry") {
		t.Errorf("error %v", err)
	}
}

func TestCheckNamesTheVariableWhenTheClusterIsDown(t *testing.T) {
	fakes(t, "down")
	err := Cluster{Kubeconfig: "/home/me/config"}.Check(t.Context(), &bytes.Buffer{})
	if err == nil || !strings.Contains(err.Error(), "KUBECONFIG=/home/me/config") || !strings.Contains(err.Error(), "refused") {
		t.Errorf("error %v", err)
	}
	fakes(t, "kind-mine")
	var log bytes.Buffer
	if err := (Cluster{Kubeconfig: "x"}).Check(t.Context(), &log); err != nil || !strings.Contains(log.String(), "kind-mine") {
		t.Errorf("error %v, log %q", err, log.String())
	}
}
