//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/test/e2e/internal/audit"
	"github.com/fairlead-dev/fairlead/test/e2e/internal/world"
)

// managerUser ends the user name of the manager in the audit log.
const managerUser = ":" + world.OperatorNamespace + ":" + world.OperatorName

func keyOf(o client.Object) client.ObjectKey { return client.ObjectKeyFromObject(o) }

// O19: at rest, and after a restart of the operator, it writes nothing at all;
// its Lease excepted.
func TestAtRestNothingIsWritten(t *testing.T) {
	w, ns := alone(t)
	log := audit.Open(t)
	const servers = 20
	all := make([]*v1alpha1.McpServer, servers)
	for i := range all {
		all[i] = w.Sample(t, ns, "gosdk.yaml", func(s *v1alpha1.McpServer) {
			s.Name = fmt.Sprintf("rest-%02d", i)
			*s.Spec.Replicas = 1
			// Twenty of them fit on a node of two cores.
			little := corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("5m"), corev1.ResourceMemory: resource.MustParse("16Mi"),
			}}
			s.Spec.Workload.Resources, s.Spec.Pod.Sidecar.Resources = little, little
		})
	}
	for _, s := range all {
		w.AwaitReady(t, s)
	}
	quiet(t, log, "at rest")

	var pods corev1.PodList
	if err := w.List(t.Context(), &pods, client.InNamespace(world.OperatorNamespace)); err != nil {
		t.Fatal(err)
	}
	for _, p := range pods.Items {
		if err := w.Delete(t.Context(), &p); err != nil {
			t.Fatal(err)
		}
	}
	begin := time.Now()
	w.AwaitOperator(t)
	// The new leader has looked at every server once: only then is silence worth something.
	world.Await(t, "the new leader watches", func(context.Context) (bool, string) {
		events, err := log.Since(begin, managerUser)
		if err != nil {
			return false, err.Error()
		}
		for _, e := range events {
			if e.Verb == "watch" && e.ObjectRef != nil && e.ObjectRef.Resource == "pods" {
				return true, ""
			}
		}
		return false, fmt.Sprintf("%d requests", len(events))
	})
	quietSince(t, log, "after a restart of the operator", begin)
}

// quiet watches for 60 s from now on, once the last writes are over.
func quiet(t *testing.T, log *audit.Log, when string) {
	t.Helper()
	time.Sleep(5 * time.Second) // events of the last change are still being recorded
	quietSince(t, log, when, time.Now())
}

func quietSince(t *testing.T, log *audit.Log, when string, begin time.Time) {
	t.Helper()
	time.Sleep(time.Minute)
	events, err := log.Since(begin, managerUser)
	if err != nil {
		t.Fatal(err)
	}
	if len(events) == 0 {
		t.Fatalf("%s: the audit log has nothing of the manager, not even its Lease: wrong user or log", when)
	}
	writes := 0
	for _, e := range events {
		if e.Writes() && !e.Lease() {
			writes++
			if writes <= 20 {
				t.Errorf("%s: %s", when, e)
			}
		}
	}
	t.Logf("%s: %d writes in %d requests", when, writes, len(events))
}
