package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/test/testkit"
)

func server(ns, name string) *v1alpha1.McpServer {
	return &v1alpha1.McpServer{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name},
		Spec: v1alpha1.McpServerSpec{Workload: v1alpha1.Workload{
			Type: v1alpha1.WorkloadStdio, Image: "registry.example/" + name + ":1", Command: []string{"/server"},
		}},
	}
}

func create(t testing.TB, c client.Client, obj client.Object) {
	t.Helper()
	if err := c.Create(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
}

// shows waits until the condition is "Status/Reason", and checks that the
// status is legal whenever it is looked at.
func shows(t testing.TB, c client.Client, s *v1alpha1.McpServer, typ, statusReason string) {
	t.Helper()
	eventually(t, func() string {
		now := &v1alpha1.McpServer{}
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(s), now); err != nil {
			return err.Error()
		}
		if now.Status.ObservedGeneration != now.Generation {
			return fmt.Sprintf("generation %d, observed %d", now.Generation, now.Status.ObservedGeneration)
		}
		if problems := testkit.LegalStatus(now); len(problems) > 0 {
			t.Fatal(strings.Join(problems, "; "))
		}
		cond := meta.FindStatusCondition(now.Status.Conditions, typ)
		if cond == nil {
			return "no " + typ
		}
		if got := string(cond.Status) + "/" + cond.Reason; got != statusReason {
			return fmt.Sprintf("%s is %s, want %s: %s", typ, got, statusReason, cond.Message)
		}
		return ""
	})
}

func edit(t testing.TB, c client.Client, s *v1alpha1.McpServer, change func(*v1alpha1.McpServer)) {
	t.Helper()
	now := &v1alpha1.McpServer{}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(s), now); err != nil {
		t.Fatal(err)
	}
	before := now.DeepCopy()
	change(now)
	if err := c.Patch(t.Context(), now, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
}

// The life of a server, with the rights of config/rbac only.
func TestLife(t *testing.T) {
	c := admin(t)
	install(t, c)
	ns := testkit.Namespace(t, c)
	k := playKubelet(t, c, ns)
	start(t, operatorOptions{namespaces: []string{ns}, statuses: k})

	s := server(ns, "demo")
	create(t, c, s)
	shows(t, c, s, "Ready", "True/Ready")
	shows(t, c, s, "Programmed", "True/Programmed")

	t.Run("scale", func(t *testing.T) {
		edit(t, c, s, func(s *v1alpha1.McpServer) { s.Spec.Replicas = ptr.To(int32(3)) })
		eventually(t, func() string {
			now := &v1alpha1.McpServer{}
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(s), now); err != nil {
				return err.Error()
			}
			if ptr.Deref(now.Status.ReadyReplicas, 0) != 3 || ptr.Deref(now.Status.Replicas, 0) != 3 {
				return fmt.Sprintf("ready %v, replicas %v", now.Status.ReadyReplicas, now.Status.Replicas)
			}
			return ""
		})
	})
	t.Run("limits reach the pods that run", func(t *testing.T) {
		before := podNames(t, c, ns)
		edit(t, c, s, func(s *v1alpha1.McpServer) { s.Spec.Limits.MaxBodyBytes = ptr.To(int64(2048)) })
		shows(t, c, s, "Programmed", "True/Programmed")
		if after := podNames(t, c, ns); !slices.Equal(before, after) {
			t.Errorf("pods %v became %v", before, after)
		}
	})
	t.Run("a valid edit that never becomes ready", func(t *testing.T) {
		k.cannotPull("registry.example/none:1")
		edit(t, c, s, func(s *v1alpha1.McpServer) { s.Spec.Workload.Image = "registry.example/none:1" })
		shows(t, c, s, "Ready", "False/ImagePullFailed")
		shows(t, c, s, "Available", "True/Available")
		edit(t, c, s, func(s *v1alpha1.McpServer) { s.Spec.Workload.Image = "registry.example/demo:2" })
		shows(t, c, s, "Ready", "True/Ready")
	})
	t.Run("a pod is lost", func(t *testing.T) {
		edit(t, c, s, func(s *v1alpha1.McpServer) { s.Spec.Replicas = ptr.To(int32(1)) })
		eventually(t, func() string {
			if n := len(podNames(t, c, ns)); n != 1 {
				return fmt.Sprintf("%d pods", n)
			}
			return ""
		})
		if err := c.DeleteAllOf(t.Context(), &corev1.Pod{}, client.InNamespace(ns), client.GracePeriodSeconds(0)); err != nil {
			t.Fatal(err)
		}
		shows(t, c, s, "Available", "True/Available")
	})
	t.Run("a child that was deleted comes back", func(t *testing.T) {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: s.Name}}
		if err := c.Delete(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		eventually(t, func() string {
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(d), d); err != nil {
				return err.Error()
			}
			return ""
		})
		shows(t, c, s, "Ready", "True/Ready")
	})
	t.Run("events tell the story", func(t *testing.T) {
		eventually(t, func() string {
			got := reasons(t, c, ns)
			for _, want := range []string{"Created", "Programmed", "Available", "Ready", "Scaled", "RollingOut", "ImagePullFailed"} {
				if !slices.Contains(got, want) {
					return fmt.Sprintf("no %s among %v", want, got)
				}
			}
			return ""
		})
	})
}

func podNames(t testing.TB, c client.Client, ns string) []string {
	t.Helper()
	pods := &corev1.PodList{}
	if err := c.List(t.Context(), pods, client.InNamespace(ns)); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, p := range pods.Items {
		out = append(out, p.Name)
	}
	slices.Sort(out)
	return out
}

func reasons(t testing.TB, c client.Client, ns string) []string {
	t.Helper()
	list := &corev1.EventList{}
	if err := c.List(t.Context(), list, client.InNamespace(ns)); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range list.Items {
		if e.InvolvedObject.Kind == "McpServer" && e.ReportingController == "fairlead" {
			out = append(out, e.Reason)
		}
	}
	return out
}

// O19: 20 servers at rest, and after a restart of the operator: no writes.
func TestAtRestNothingIsWritten(t *testing.T) {
	c := admin(t)
	install(t, c)
	ns := testkit.Namespace(t, c)
	k := playKubelet(t, c, ns)
	op := start(t, operatorOptions{namespaces: []string{ns}, statuses: k})
	var servers []*v1alpha1.McpServer
	for i := range 20 {
		s := server(ns, fmt.Sprintf("s%d", i))
		create(t, c, s)
		servers = append(servers, s)
	}
	for _, s := range servers {
		shows(t, c, s, "Ready", "True/Ready")
		shows(t, c, s, "Programmed", "True/Programmed")
	}
	settle(t, op.used)
	op.stop()

	again := start(t, operatorOptions{namespaces: []string{ns}, statuses: k})
	eventually(t, func() string {
		again.used.mu.Lock()
		defer again.used.mu.Unlock()
		// One live read of the key Secret per server says that each was
		// reconciled.
		if n := again.used.all["get /secrets"]; n < len(servers) {
			return fmt.Sprintf("%d of %d servers were looked at", n, len(servers))
		}
		return ""
	})
	time.Sleep(2 * time.Second) // writes that would come after the reads
	if writes := again.used.takeWrites(); len(writes) > 0 {
		t.Errorf("the restarted operator wrote %d times: %v", len(writes), writes)
	}
}

// settle waits until two seconds have passed without a write.
func settle(t testing.TB, q *requests) {
	t.Helper()
	quiet := time.Now()
	eventually(t, func() string {
		if w := q.takeWrites(); len(w) > 0 {
			quiet = time.Now()
			return fmt.Sprintf("still writes: %v", w)
		}
		if time.Since(quiet) < 2*time.Second {
			return "not quiet for long enough"
		}
		return ""
	})
}

// Two managers: one leads; when it stops the other goes on at once.
func TestLeaderElection(t *testing.T) {
	c := admin(t)
	install(t, c)
	ns := testkit.Namespace(t, c)
	k := playKubelet(t, c, ns)
	o := operatorOptions{namespaces: []string{ns}, elect: true, statuses: k}
	first := start(t, o)
	select {
	case <-first.leads:
	case <-time.After(30 * time.Second):
		t.Fatal("nobody leads")
	}
	second := start(t, o)
	a := server(ns, "a")
	create(t, c, a)
	shows(t, c, a, "Ready", "True/Ready")
	if w := second.used.takeWrites(); len(w) > 0 {
		t.Errorf("the one that waits wrote: %v", w)
	}
	select {
	case <-second.leads:
		t.Fatal("two lead")
	default:
	}
	first.stop()
	select {
	case <-second.leads:
	case <-time.After(30 * time.Second):
		t.Fatal("the second does not take over")
	}
	b := server(ns, "b")
	create(t, c, b)
	shows(t, c, b, "Ready", "True/Ready")
}
