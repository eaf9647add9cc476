package world

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
)

// WatchReady follows condition Ready from now on. The returned function ends
// the watch and returns every change of status or reason that it saw.
func (w *World) WatchReady(t testing.TB, s *v1alpha1.McpServer) func() []string {
	t.Helper()
	return w.WatchCondition(t, s, v1alpha1.ConditionReady)
}

// WatchCondition is WatchReady for any condition.
func (w *World) WatchCondition(t testing.TB, s *v1alpha1.McpServer, kind string) func() []string {
	t.Helper()
	last := ""
	var moves []string
	return w.follow(t, &v1alpha1.McpServerList{}, s.Namespace, func(obj client.Object) {
		now, ok := obj.(*v1alpha1.McpServer)
		if !ok || now.Name != s.Name {
			return
		}
		state := "absent"
		if c := meta.FindStatusCondition(now.Status.Conditions, kind); c != nil {
			state = fmt.Sprintf("%s %s", c.Status, c.Reason)
		}
		if last != "" && state != last {
			moves = append(moves, last+" → "+state)
		}
		last = state
	}, func() []string { return moves })
}

// WatchEndpoints follows the number of ready endpoints of the server. The
// returned function ends the watch and returns the lowest number seen.
func (w *World) WatchEndpoints(t testing.TB, s *v1alpha1.McpServer) func() int {
	t.Helper()
	slices := map[string]int{}
	lowest := -1
	end := w.follow(t, &discoveryv1.EndpointSliceList{}, s.Namespace, func(obj client.Object) {
		slice, ok := obj.(*discoveryv1.EndpointSlice)
		if !ok || slice.Labels[discoveryv1.LabelServiceName] != s.Name {
			return
		}
		slices[slice.Name] = ReadyIn(slice)
		sum := 0
		for _, n := range slices {
			sum += n
		}
		if lowest < 0 || sum < lowest {
			lowest = sum
		}
	}, func() []string { return nil })
	return func() int {
		end()
		return lowest
	}
}

// follow watches a kind in a namespace and calls see for each state, in order.
func (w *World) follow(t testing.TB, list client.ObjectList, namespace string, see func(client.Object), result func() []string) func() []string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	watcher, err := w.Watch(ctx, list, client.InNamespace(namespace))
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	var mu sync.Mutex
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e := range watcher.ResultChan() {
			if obj, ok := e.Object.(client.Object); ok && e.Type != watch.Deleted {
				mu.Lock()
				see(obj)
				mu.Unlock()
			}
		}
	}()
	end := sync.OnceValue(func() []string {
		watcher.Stop()
		cancel()
		<-done
		mu.Lock()
		defer mu.Unlock()
		return result()
	})
	t.Cleanup(func() { end() })
	return end
}

// Owned lists what exists in a namespace that a McpServer made: the objects it
// controls, and the pods and slices that follow from them.
func (w *World) Owned(ctx context.Context, namespace string, uid types.UID) ([]string, error) {
	var out []string
	for _, list := range []client.ObjectList{
		&appsv1.DeploymentList{}, &appsv1.ReplicaSetList{}, &corev1.PodList{}, &corev1.ServiceList{},
		&discoveryv1.EndpointSliceList{}, &corev1.ConfigMapList{}, &corev1.SecretList{}, &corev1.ServiceAccountList{},
		&policyv1.PodDisruptionBudgetList{}, &networkingv1.NetworkPolicyList{},
	} {
		if err := w.List(ctx, list, client.InNamespace(namespace)); err != nil {
			return nil, err
		}
		err := meta.EachListItem(list, func(o runtime.Object) error {
			obj := o.(client.Object)
			if obj.GetLabels()[v1alpha1.LabelServer] != "" || slices.ContainsFunc(obj.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == uid }) {
				out = append(out, fmt.Sprintf("%T %s", o, obj.GetName()))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
