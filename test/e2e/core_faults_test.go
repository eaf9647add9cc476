//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/controllers/mcpserver/desired"
	"github.com/fairlead-dev/fairlead/test/e2e/internal/node"
	"github.com/fairlead-dev/fairlead/test/e2e/internal/wire"
	"github.com/fairlead-dev/fairlead/test/e2e/internal/world"
	"github.com/fairlead-dev/fairlead/test/testkit"
)

// Names of the containers of every pod.
const (
	workload = desired.ContainerWorkload
	sidecar  = desired.ContainerSidecar
)

// ready applies the stdio sample and waits for it.
func ready(t *testing.T, w *world.World, ns string, edits ...func(*v1alpha1.McpServer)) *v1alpha1.McpServer {
	t.Helper()
	s := w.Sample(t, ns, "everything.yaml", edits...)
	w.AwaitReady(t, s)
	return s
}

// callsWork waits until a fresh client of each era gets an answer.
func callsWork(t *testing.T, url string) {
	t.Helper()
	world.Await(t, "calls of both eras answered", func(ctx context.Context) (bool, string) {
		modern, legacy := wire.New(url), wire.New(url)
		defer modern.Close()
		defer legacy.Close()
		if _, err := modern.Text(ctx, "echo", `{"message":"x"}`); err != nil {
			return false, "2026-07-28: " + err.Error()
		}
		if err := legacy.Open(ctx); err != nil {
			return false, "2025-11-25: " + err.Error()
		}
		if _, err := legacy.Text(ctx, "echo", `{"message":"x"}`); err != nil {
			return false, "2025-11-25: " + err.Error()
		}
		return true, ""
	})
}

// session opens a legacy session that has been used once.
func session(t *testing.T, url string) *wire.Client {
	t.Helper()
	c := wire.New(url)
	t.Cleanup(c.Close)
	if err := c.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Text(t.Context(), "echo", `{"message":"x"}`); err != nil {
		t.Fatal(err)
	}
	return c
}

// container returns the status of a container of the pod.
func container(p *corev1.Pod, name string) corev1.ContainerStatus {
	for _, list := range [][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
		if i := slices.IndexFunc(list, func(c corev1.ContainerStatus) bool { return c.Name == name }); i >= 0 {
			return list[i]
		}
	}
	return corev1.ContainerStatus{}
}

// kill ends the first process of a container, as the kernel would.
func kill(t *testing.T, p *corev1.Pod, name string) {
	t.Helper()
	_, id, _ := strings.Cut(container(p, name).ContainerID, "://")
	procs, err := node.Processes(string(p.UID), id)
	if err != nil || len(procs) == 0 || id == "" {
		t.Fatalf("no process of container %s: %v", name, err)
	}
	inside := func(pid int) bool {
		return slices.ContainsFunc(procs, func(q node.Process) bool { return q.PID == pid })
	}
	for _, q := range procs {
		if !inside(q.PPID) {
			t.Logf("kill -9 %v", q.Argv)
			if err := node.Kill(q); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// restarted waits until a container of the pod runs again and the pod is ready.
func restarted(t *testing.T, w *world.World, p *corev1.Pod, name string) time.Duration {
	t.Helper()
	before := container(p, name).RestartCount
	return world.Await(t, name+" restarted, pod ready", func(ctx context.Context) (bool, string) {
		var now corev1.Pod
		if err := w.Get(ctx, client.ObjectKeyFromObject(p), &now); err != nil {
			return false, err.Error()
		}
		c := container(&now, name)
		return c.RestartCount > before && world.PodReady(&now), fmt.Sprintf("%d restarts, ready %v", c.RestartCount, world.PodReady(&now))
	})
}

// O20: the first process of the workload's container is the agent; with it go
// all children, and the kubelet starts it anew.
func TestCoreAgentKilled(t *testing.T) {
	w, ns := begin(t)
	node.Local(t, testkit.Root(t))
	s := ready(t, w, ns)
	url := w.Endpoint(t, s)
	c := session(t, url)
	p := w.OnlyPod(t, s)
	kill(t, &p, workload)
	restarted(t, w, &p, workload)
	if text, err := c.Text(t.Context(), "echo", `{"message":"x"}`); err == nil {
		t.Errorf("a session outlived its process: %q", text)
	}
	callsWork(t, url)
}

// O20: one session's process is that session's matter alone.
func TestCoreSessionProcessKilled(t *testing.T) {
	w, ns := begin(t)
	node.Local(t, testkit.Root(t))
	s := ready(t, w, ns)
	url := w.Endpoint(t, s)
	p := w.OnlyPod(t, s)
	children := func() []node.Process {
		procs, err := node.Processes(string(p.UID), "")
		if err != nil {
			t.Fatal(err)
		}
		return slices.DeleteFunc(procs, func(q node.Process) bool {
			return !slices.ContainsFunc(q.Argv, func(a string) bool { return strings.Contains(a, "server-everything") }) ||
				strings.Contains(q.Argv[0], "mcp-agent")
		})
	}
	other := session(t, url)
	before := children()
	victim := session(t, url)
	mine := slices.DeleteFunc(children(), func(q node.Process) bool {
		return slices.ContainsFunc(before, func(b node.Process) bool { return b.PID == q.PID })
	})
	if len(mine) != 1 {
		t.Fatalf("a session brought %d processes: %v", len(mine), mine)
	}
	changes := w.WatchReady(t, s)
	if err := node.Kill(mine[0]); err != nil {
		t.Fatal(err)
	}
	world.Await(t, "the session has ended", func(ctx context.Context) (bool, string) {
		r, err := victim.Call(ctx, "echo", `{"message":"x"}`)
		if err != nil {
			t.Errorf("the end of a session must be told over HTTP: %v", err)
			return true, ""
		}
		return r.Status == http.StatusNotFound, fmt.Sprintf("HTTP %d %s", r.Status, r.Body)
	})
	if _, err := other.Text(t.Context(), "echo", `{"message":"x"}`); err != nil {
		t.Errorf("another session was hit: %v", err)
	}
	callsWork(t, url)
	if moves := changes(); len(moves) > 0 {
		t.Errorf("Ready moved: %v", moves)
	}
}

// O20: once per pod, since the kubelet backs off from the second time on.
func TestCoreSidecarKilled(t *testing.T) {
	w, ns := begin(t)
	node.Local(t, testkit.Root(t))
	s := ready(t, w, ns)
	url := w.Endpoint(t, s)
	p := w.OnlyPod(t, s)
	kill(t, &p, sidecar)
	restarted(t, w, &p, sidecar)
	callsWork(t, url)
	if n := container(&p, workload).RestartCount; n != 0 {
		t.Errorf("the workload restarted %d times with its sidecar", n)
	}
}

func TestCorePodDeleted(t *testing.T) {
	w, ns := begin(t)
	s := ready(t, w, ns)
	url := w.Endpoint(t, s)
	p := w.OnlyPod(t, s)
	if err := w.Delete(t.Context(), &p); err != nil {
		t.Fatal(err)
	}
	world.Await(t, "a new pod ready", func(ctx context.Context) (bool, string) {
		pods := w.Pods(t, s)
		ok := slices.ContainsFunc(pods, func(q corev1.Pod) bool { return q.UID != p.UID && world.PodReady(&q) })
		return ok, fmt.Sprintf("%d pods", len(pods))
	})
	w.AwaitCondition(t, s, v1alpha1.ConditionAvailable, "True", v1alpha1.ReasonAvailable)
	w.AwaitReady(t, s)
	callsWork(t, url)
}

// O3: a restart of the workload alone must not start the pod's final drain.
func TestCoreLivenessFailureLeavesThePodServing(t *testing.T) {
	w, ns := begin(t)
	s := w.Sample(t, ns, "liveness.yaml")
	w.AwaitReady(t, s)
	url := w.Endpoint(t, s)
	p := w.OnlyPod(t, s)
	w.Kubectl(t, "exec", "-n", ns, p.Name, "-c", workload, "--", "touch", "/tmp/stuck")
	world.Await(t, "the kubelet restarts the workload", func(ctx context.Context) (bool, string) {
		var now corev1.Pod
		if err := w.Get(ctx, client.ObjectKeyFromObject(&p), &now); err != nil {
			return false, err.Error()
		}
		n := container(&now, workload).RestartCount
		if n > 0 {
			// /tmp is a volume and survives: without this it would fail for ever.
			w.Kubectl(t, "exec", "-n", ns, p.Name, "-c", workload, "--", "rm", "-f", "/tmp/stuck")
		}
		return n > 0, fmt.Sprintf("%d restarts", n)
	})
	world.Await(t, "the pod is ready again, and not draining", func(ctx context.Context) (bool, string) {
		var now corev1.Pod
		if err := w.Get(ctx, client.ObjectKeyFromObject(&p), &now); err != nil {
			return false, err.Error()
		}
		status, err := w.Status(ctx, &now)
		return err == nil && status.Ready && !status.Draining && world.PodReady(&now),
			fmt.Sprintf("pod ready %v; sidecar ready %v, draining %v, %v", world.PodReady(&now), status.Ready, status.Draining, err)
	})
	callsWork(t, url)
}

// Deletion ends everything: objects, processes, sockets, cgroups, mounts.
func TestCoreDeleteLeavesNothing(t *testing.T) {
	w, ns := begin(t)
	n := node.Local(t, testkit.Root(t))
	s := ready(t, w, ns)
	session(t, w.Endpoint(t, s))
	p := w.OnlyPod(t, s)
	if err := w.Delete(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	world.Await(t, "all objects gone", func(ctx context.Context) (bool, string) {
		left, err := w.Owned(ctx, ns, s.UID)
		if err != nil {
			return false, err.Error()
		}
		return len(left) == 0, strings.Join(left, ", ")
	})
	world.Await(t, "nothing of the pod on the node", func(context.Context) (bool, string) {
		left, err := n.Left(string(p.UID))
		if err != nil {
			return false, err.Error()
		}
		return len(left) == 0, strings.Join(left, "\n")
	})
}
