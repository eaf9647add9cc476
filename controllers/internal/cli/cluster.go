package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
)

// cluster is what the commands need of Kubernetes. Errors are worded for the
// person at the terminal.
type cluster interface {
	server(ctx context.Context, name string) (*v1alpha1.McpServer, error)
	servers(ctx context.Context, allNamespaces bool) ([]v1alpha1.McpServer, error)
	// template is the value of LabelTemplate that new pods of s get.
	template(ctx context.Context, s *v1alpha1.McpServer) (string, error)
	pods(ctx context.Context, s *v1alpha1.McpServer) ([]corev1.Pod, error)
	// live is the gzip JSON of the newest live contract of s.
	live(ctx context.Context, s *v1alpha1.McpServer) ([]byte, error)
	// forward opens a local address, http://127.0.0.1:PORT, for a port of the
	// pod. It lives until ctx ends or stop is called.
	forward(ctx context.Context, pod corev1.Pod, port int) (base string, stop func(), err error)
}

// readyPod picks a pod of s that answers clients now.
func readyPod(ctx context.Context, c cluster, s *v1alpha1.McpServer) (corev1.Pod, error) {
	pods, err := c.pods(ctx, s)
	if err != nil {
		return corev1.Pod{}, err
	}
	for _, pod := range pods {
		if pod.DeletionTimestamp == nil && isReady(pod) {
			return pod, nil
		}
	}
	return corev1.Pod{}, fmt.Errorf("no pod of McpServer %s/%s is ready; `kubectl mcp check %s -n %s` says why",
		s.Namespace, s.Name, s.Name, s.Namespace)
}

func isReady(pod corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

func restarts(pod corev1.Pod) (n int32) {
	for _, list := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for _, s := range list {
			n += s.RestartCount
		}
	}
	return n
}

// byName sorts pods, so that output and choice do not jump about.
func byName(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) }
