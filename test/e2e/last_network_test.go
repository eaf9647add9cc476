//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/sidecar/config"
	"github.com/fairlead-dev/fairlead/test/e2e/internal/node"
	"github.com/fairlead-dev/fairlead/test/e2e/internal/world"
	"github.com/fairlead-dev/fairlead/test/testkit"
)

// TestLastNetworkPolicyClosesTheWorkloadsPort runs an enforcing implementation
// of NetworkPolicy on the node, which the local cluster otherwise has not. It
// comes after the other tests, since its rules stay (O10, O13).
func TestLastNetworkPolicyClosesTheWorkloadsPort(t *testing.T) {
	n := node.Local(t, testkit.Root(t))
	router := os.Getenv("FAIRLEAD_KUBE_ROUTER")
	if router == "" {
		t.Fatal("FAIRLEAD_KUBE_ROUTER is not set: run `make test-e2e-all`, which builds kube-router and sets it")
	}
	w, ns := alone(t)
	s := w.Sample(t, ns, "gosdk.yaml", func(s *v1alpha1.McpServer) {
		s.Spec.Replicas = ptr.To[int32](1)
		// A careless server: reachable on the pod's address.
		s.Spec.Workload.Args = []string{"-addr", "0.0.0.0:3000"}
	})
	w.AwaitReady(t, s)
	w.AwaitCondition(t, s, v1alpha1.ConditionWorkloadExposed, "True", v1alpha1.ReasonListensOnAllInterfaces)
	p := w.OnlyPod(t, s)
	stranger := strangerPod(t, w)

	reach := func(port int) string {
		script := fmt.Sprintf(`const s=require("net").connect(%d,%q);s.setTimeout(3000,()=>{console.log("closed");process.exit()});`+
			`s.on("connect",()=>{console.log("open");process.exit()});s.on("error",()=>{console.log("closed");process.exit()})`, port, p.Status.PodIP)
		return strings.TrimSpace(w.Kubectl(t, "exec", "-n", stranger.Namespace, stranger.Name, "--", "node", "-e", script))
	}
	for _, port := range []int{config.PortPublic, config.PortAdmin, 3000} {
		if got := reach(port); got != "open" {
			t.Fatalf("port %d is %s without any enforcement: this test would prove nothing", port, got)
		}
	}
	n.Firewall(t, router)
	world.Await(t, "the workload's port is closed", func(context.Context) (bool, string) {
		got := reach(3000)
		return got == "closed", got
	})
	if got := reach(config.PortAdmin); got != "closed" {
		t.Errorf("a stranger reaches the admin port")
	}
	if got := reach(config.PortPublic); got != "open" {
		t.Errorf("a stranger does not reach the public port")
	}
	callsWork(t, w.Endpoint(t, s))
	// Probes and the operator's look at /status still pass.
	w.Edit(t, s, func(s *v1alpha1.McpServer) { s.Spec.Limits.MaxConcurrentCalls = ptr.To[int32](99) })
	w.AwaitReady(t, s)
	w.AwaitCondition(t, s, v1alpha1.ConditionProgrammed, "True", v1alpha1.ReasonProgrammed)
}

// strangerPod is a pod of another namespace with Node in it.
func strangerPod(t *testing.T, w *world.World) *corev1.Pod {
	t.Helper()
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "stranger", Namespace: w.Namespace(t)},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: ptr.To[int64](1),
			SecurityContext:               &corev1.PodSecurityContext{RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To[int64](10001), SeccompProfile: &corev1.SeccompProfile{Type: "RuntimeDefault"}},
			Containers: []corev1.Container{{
				Name: "node", Image: "fairlead.dev/everything:dev", Command: []string{"node", "-e", silent},
				SecurityContext: &corev1.SecurityContext{AllowPrivilegeEscalation: ptr.To(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}},
			}},
		},
	}
	w.MustCreate(t, p)
	world.Await(t, "stranger runs", func(ctx context.Context) (bool, string) {
		err := w.Get(ctx, keyOf(p), p)
		return err == nil && world.PodReady(p), fmt.Sprint(p.Status.Phase, err)
	})
	return p
}
