package world

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/sidecar/config"
)

func fromUnstructured(u *unstructured.Unstructured, into any) error {
	return runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(u.Object, into, true)
}

// PodReady reports the pod's Ready condition.
func PodReady(p *corev1.Pod) bool {
	return p.DeletionTimestamp == nil && slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// Pods returns the pods of a server that are not on their way out, by name.
func (w *World) Pods(t testing.TB, s *v1alpha1.McpServer) []corev1.Pod {
	t.Helper()
	var list corev1.PodList
	if err := w.List(t.Context(), &list, client.InNamespace(s.Namespace), client.MatchingLabels{v1alpha1.LabelServer: s.Name}); err != nil {
		t.Fatal(err)
	}
	out := slices.DeleteFunc(list.Items, func(p corev1.Pod) bool { return p.DeletionTimestamp != nil })
	slices.SortFunc(out, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// OnlyPod returns the server's single pod.
func (w *World) OnlyPod(t testing.TB, s *v1alpha1.McpServer) corev1.Pod {
	t.Helper()
	pods := w.Pods(t, s)
	if len(pods) != 1 {
		t.Fatalf("%d pods of %s, want 1", len(pods), s.Name)
	}
	return pods[0]
}

// ReadyEndpoints counts the ready endpoints of the server's Service.
func (w *World) ReadyEndpoints(ctx context.Context, s *v1alpha1.McpServer) (int, error) {
	var list discoveryv1.EndpointSliceList
	err := w.List(ctx, &list, client.InNamespace(s.Namespace), client.MatchingLabels{discoveryv1.LabelServiceName: s.Name})
	n := 0
	for _, slice := range list.Items {
		n += ReadyIn(&slice)
	}
	return n, err
}

// ReadyIn counts the ready endpoints of one slice.
func ReadyIn(slice *discoveryv1.EndpointSlice) (n int) {
	for _, e := range slice.Endpoints {
		if e.Conditions.Ready != nil && *e.Conditions.Ready {
			n++
		}
	}
	return n
}

// Condition returns a condition of the server as it is now, nil when absent.
func (w *World) Condition(ctx context.Context, s *v1alpha1.McpServer, kind string) (*metav1.Condition, error) {
	var now v1alpha1.McpServer
	if err := w.Get(ctx, client.ObjectKeyFromObject(s), &now); err != nil {
		return nil, err
	}
	return meta.FindStatusCondition(now.Status.Conditions, kind), nil
}

// Status reads a sidecar's report through the API server.
func (w *World) Status(ctx context.Context, pod *corev1.Pod) (config.Status, error) {
	var s config.Status
	raw, err := w.PodProxy(ctx, pod, config.PortAdmin, config.PathStatus)
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(raw, &s)
}

// PodProxy gets a path of a pod's port through the API server.
func (w *World) PodProxy(ctx context.Context, pod *corev1.Pod, port int, path string) ([]byte, error) {
	return w.Clientset.CoreV1().RESTClient().Get().Namespace(pod.Namespace).Resource("pods").
		Name(fmt.Sprintf("%s:%d", pod.Name, port)).SubResource("proxy").Suffix(path).
		Timeout(10 * time.Second).DoRaw(ctx)
}

// AwaitOperator waits until every wanted pod of the operator is ready.
func (w *World) AwaitOperator(t testing.TB) {
	t.Helper()
	Await(t, "operator ready", func(ctx context.Context) (bool, string) {
		var d appsv1.Deployment
		if err := w.Get(ctx, client.ObjectKey{Namespace: OperatorNamespace, Name: OperatorName}, &d); err != nil {
			return false, err.Error()
		}
		s := d.Status
		ok := s.ObservedGeneration == d.Generation && s.Replicas == *d.Spec.Replicas && s.ReadyReplicas == s.Replicas && s.UpdatedReplicas == s.Replicas
		return ok, fmt.Sprintf("%d of %d ready", s.ReadyReplicas, *d.Spec.Replicas)
	})
}
