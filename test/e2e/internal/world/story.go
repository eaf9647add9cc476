package world

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
)

// Story logs what is in a namespace: for the reader of a failed test.
func (w *World) Story(ctx context.Context, t testing.TB, namespace string) {
	var b bytes.Buffer
	var servers v1alpha1.McpServerList
	if err := w.List(ctx, &servers, client.InNamespace(namespace)); err != nil {
		fmt.Fprintln(&b, err)
	}
	for _, s := range servers.Items {
		fmt.Fprintf(&b, "McpServer %s generation %d\n", s.Name, s.Generation)
		for _, c := range s.Status.Conditions {
			fmt.Fprintf(&b, "  %-12s %-8s %-24s gen %d  %s\n", c.Type, c.Status, c.Reason, c.ObservedGeneration, c.Message)
		}
	}
	var pods corev1.PodList
	if err := w.List(ctx, &pods, client.InNamespace(namespace)); err != nil {
		fmt.Fprintln(&b, err)
	}
	for _, p := range pods.Items {
		w.podStory(ctx, &b, &p)
	}
	var events corev1.EventList
	if err := w.List(ctx, &events, client.InNamespace(namespace)); err != nil {
		fmt.Fprintln(&b, err)
	}
	for _, e := range events.Items {
		fmt.Fprintf(&b, "event %s/%s %s x%d: %s\n", e.InvolvedObject.Kind, e.InvolvedObject.Name, e.Reason, max(e.Count, 1), e.Message)
	}
	t.Logf("what was in namespace %s:\n%s", namespace, b.String())
}

func (w *World) podStory(ctx context.Context, b *bytes.Buffer, p *corev1.Pod) {
	fmt.Fprintf(b, "pod %s %s ready=%v\n", p.Name, p.Status.Phase, PodReady(p))
	for _, list := range [][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
		for _, c := range list {
			fmt.Fprintf(b, "  container %s ready=%v restarts=%d state=%s last=%s\n", c.Name, c.Ready, c.RestartCount, state(c.State), state(c.LastTerminationState))
			out, err := w.Clientset.CoreV1().Pods(p.Namespace).GetLogs(p.Name, &corev1.PodLogOptions{
				Container: c.Name, TailLines: ptr.To[int64](25), LimitBytes: ptr.To[int64](8 << 10),
			}).DoRaw(ctx)
			if err == nil && len(out) > 0 {
				fmt.Fprintf(b, "    %s\n", bytes.ReplaceAll(bytes.TrimSpace(out), []byte("\n"), []byte("\n    ")))
			}
		}
	}
	if s, err := w.PodProxy(ctx, p, 17081, "/status"); err == nil {
		fmt.Fprintf(b, "  status %s\n", s)
	}
}

func state(s corev1.ContainerState) string {
	switch {
	case s.Waiting != nil:
		return "waiting " + s.Waiting.Reason + " " + s.Waiting.Message
	case s.Running != nil:
		return "running"
	case s.Terminated != nil:
		return fmt.Sprintf("terminated %d %s", s.Terminated.ExitCode, s.Terminated.Reason)
	}
	return "none"
}
