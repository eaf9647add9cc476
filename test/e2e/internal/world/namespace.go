package world

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/test/testkit"
)

const (
	psaEnforce    = "pod-security.kubernetes.io/enforce"
	deleteTimeout = 3 * time.Minute
)

// Namespace makes a namespace that enforces Pod Security `restricted`. At the
// end of the test its McpServers and then the namespace are deleted, and a
// failed test tells what was in it.
func (w *World) Namespace(t testing.TB) string {
	t.Helper()
	ns := &corev1.Namespace{}
	ns.GenerateName = "e2e-"
	ns.Labels = map[string]string{psaEnforce: "restricted"}
	if err := w.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	t.Logf("namespace %s", ns.Name)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), deleteTimeout)
		defer cancel()
		if t.Failed() {
			w.Story(ctx, t, ns.Name)
		}
		if err := w.DeleteAllOf(ctx, &v1alpha1.McpServer{}, client.InNamespace(ns.Name)); err != nil {
			t.Errorf("delete McpServers: %v", err)
		}
		if err := client.IgnoreNotFound(w.Delete(ctx, ns)); err != nil {
			t.Errorf("delete namespace: %v", err)
		}
	})
	return ns.Name
}

// Sample applies a file of config/samples to a namespace and returns the
// McpServer in it. Edits are made before it is created.
func (w *World) Sample(t testing.TB, namespace, file string, edits ...func(*v1alpha1.McpServer)) *v1alpha1.McpServer {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(testkit.Root(t), "config", "samples", file))
	if err != nil {
		t.Fatal(err)
	}
	var server *v1alpha1.McpServer
	docs := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(raw), 4096)
	for {
		var u unstructured.Unstructured
		if err := docs.Decode(&u); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if len(u.Object) == 0 {
			continue
		}
		u.SetNamespace(namespace)
		if u.GetKind() != "McpServer" {
			w.MustCreate(t, &u)
			continue
		}
		server = &v1alpha1.McpServer{}
		if err := fromUnstructured(&u, server); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, edit := range edits {
			edit(server)
		}
		w.MustCreate(t, server)
	}
	if server == nil {
		t.Fatalf("%s holds no McpServer", file)
	}
	return server
}

// MustCreate creates obj.
func (w *World) MustCreate(t testing.TB, obj client.Object) {
	t.Helper()
	if err := w.Create(t.Context(), obj); err != nil {
		t.Fatalf("create %s: %v", obj.GetName(), err)
	}
}

// Edit reads the server anew, changes it and patches the difference.
func (w *World) Edit(t testing.TB, s *v1alpha1.McpServer, edit func(*v1alpha1.McpServer)) {
	t.Helper()
	if err := w.Get(t.Context(), client.ObjectKeyFromObject(s), s); err != nil {
		t.Fatal(err)
	}
	before := s.DeepCopy()
	edit(s)
	if err := w.Patch(t.Context(), s, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
}
