//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/controllers/mcpserver/desired"
	"github.com/fairlead-dev/fairlead/test/e2e/internal/world"
)

// O4: an object made by hand under the name of a child is left alone byte for
// byte, is named in a condition, and survives the McpServer. All kinds but two
// carry eight digits of the server's UID, so the operator is stopped until the
// object is there.
func TestForeignObjectsAreNeverAdopted(t *testing.T) {
	w, _ := alone(t)
	labels := map[string]string{"made": "by-hand"}
	meta := func(ns, name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: ns, Name: name, Labels: labels}
	}
	kinds := map[string]func(ns string, n desired.Names) client.Object{
		"Deployment": func(ns string, n desired.Names) client.Object {
			return &appsv1.Deployment{ObjectMeta: meta(ns, n.Deployment), Spec: appsv1.DeploymentSpec{
				Replicas: ptr.To[int32](0),
				Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: labels},
					Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "x", Image: "fairlead.dev/pause:dev"}}},
				},
			}}
		},
		"Service": func(ns string, n desired.Names) client.Object {
			return &corev1.Service{ObjectMeta: meta(ns, n.Service), Spec: corev1.ServiceSpec{
				Selector: labels, Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(1)}},
			}}
		},
		"Secret": func(ns string, n desired.Names) client.Object {
			return &corev1.Secret{ObjectMeta: meta(ns, n.Secret), StringData: map[string]string{"mine": "yes"}}
		},
		"ConfigMap": func(ns string, n desired.Names) client.Object {
			return &corev1.ConfigMap{ObjectMeta: meta(ns, n.ConfigMap), Data: map[string]string{"mine": "yes"}}
		},
		"ServiceAccount": func(ns string, n desired.Names) client.Object {
			return &corev1.ServiceAccount{ObjectMeta: meta(ns, n.ServiceAccount)}
		},
		"PodDisruptionBudget": func(ns string, n desired.Names) client.Object {
			return &policyv1.PodDisruptionBudget{ObjectMeta: meta(ns, n.PDB), Spec: policyv1.PodDisruptionBudgetSpec{
				Selector: &metav1.LabelSelector{MatchLabels: labels}, MinAvailable: ptr.To(intstr.FromInt32(1)),
			}}
		},
		"NetworkPolicy": func(ns string, n desired.Names) client.Object {
			return &networkingv1.NetworkPolicy{ObjectMeta: meta(ns, n.NetworkPolicy), Spec: networkingv1.NetworkPolicySpec{
				PodSelector: metav1.LabelSelector{MatchLabels: labels}, PolicyTypes: []networkingv1.PolicyType{"Ingress"},
			}}
		},
	}
	start := stopOperator(t, w)
	type pair struct {
		server *v1alpha1.McpServer
		object client.Object
		before string
	}
	pairs := map[string]pair{}
	for kind, build := range kinds {
		ns := w.Namespace(t)
		s := w.Sample(t, ns, "gosdk.yaml")
		o := build(ns, desired.NamesOf(s))
		w.MustCreate(t, o)
		pairs[kind] = pair{s, o, settled(t, w, o)}
	}
	start()
	for kind, p := range pairs {
		t.Run(kind, func(t *testing.T) {
			w.AwaitCondition(t, p.server, v1alpha1.ConditionAccepted, "False", v1alpha1.ReasonNameConflict)
			if now := spelled(t, w, p.object); now != p.before {
				t.Errorf("changed from\n%s\nto\n%s", p.before, now)
			}
			if err := w.Delete(t.Context(), p.server, client.PropagationPolicy(metav1.DeletePropagationForeground)); err != nil {
				t.Fatal(err)
			}
			world.Await(t, "the McpServer is gone", func(ctx context.Context) (bool, string) {
				err := w.Get(ctx, keyOf(p.server), &v1alpha1.McpServer{})
				return client.IgnoreNotFound(err) == nil && err != nil, ""
			})
			if now := spelled(t, w, p.object); now != p.before {
				t.Errorf("after the deletion of the McpServer changed from\n%s\nto\n%s", p.before, now)
			}
		})
	}
}

// settled is the object once the cluster's own controllers have written what
// they write into every new one.
func settled(t *testing.T, w *world.World, o client.Object) (text string) {
	t.Helper()
	world.Await(t, "the object has settled", func(context.Context) (bool, string) {
		before := text
		text = spelled(t, w, o)
		if text != before {
			time.Sleep(time.Second)
		}
		return text == before, "it still changes"
	})
	return text
}

// spelled is an object as the API server stores it, without what other
// controllers write: its status, and the version and field owners that move
// with that.
func spelled(t *testing.T, w *world.World, o client.Object) string {
	t.Helper()
	if err := w.Get(t.Context(), keyOf(o), o); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	delete(m, "status")
	md := m["metadata"].(map[string]any)
	delete(md, "resourceVersion")
	delete(md, "managedFields")
	if raw, err = json.MarshalIndent(m, "", " "); err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// stopOperator scales the operator to nothing; the returned function brings it
// back, at the latest at the end of the test.
func stopOperator(t *testing.T, w *world.World) (start func()) {
	t.Helper()
	var d appsv1.Deployment
	key := client.ObjectKey{Namespace: world.OperatorNamespace, Name: world.OperatorName}
	if err := w.Get(t.Context(), key, &d); err != nil {
		t.Fatal(err)
	}
	was := *d.Spec.Replicas
	scale := func(n int32) error {
		return w.Patch(context.WithoutCancel(t.Context()), d.DeepCopy(), client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, n)))
	}
	if err := scale(0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := scale(was); err != nil {
			t.Error(err)
		}
	})
	world.Await(t, "operator stopped", func(ctx context.Context) (bool, string) {
		var pods corev1.PodList
		err := w.List(ctx, &pods, client.InNamespace(world.OperatorNamespace))
		return err == nil && len(pods.Items) == 0, fmt.Sprint(len(pods.Items), " pods left ", err)
	})
	return func() {
		if err := scale(was); err != nil {
			t.Fatal(err)
		}
		w.AwaitOperator(t)
	}
}
