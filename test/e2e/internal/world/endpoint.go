package world

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os/exec"
	"regexp"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
)

// Endpoint is a URL of the server that this process can use: that of its
// Service where the service network can be reached, and otherwise the same
// Service through the API server, which spreads requests over the pods as well.
func (w *World) Endpoint(t testing.TB, s *v1alpha1.McpServer) string {
	t.Helper()
	var svc corev1.Service
	if err := w.Get(t.Context(), client.ObjectKeyFromObject(s), &svc); err != nil {
		t.Fatal(err)
	}
	addr := net.JoinHostPort(svc.Spec.ClusterIP, "80")
	if c, err := net.DialTimeout("tcp", addr, 2*time.Second); err == nil {
		c.Close()
		return "http://" + addr + "/mcp"
	}
	return fmt.Sprintf("%s/api/v1/namespaces/%s/services/%s:80/proxy/mcp", proxy(t), s.Namespace, s.Name)
}

var serving = regexp.MustCompile(`Starting to serve on (127\.0\.0\.1:\d+)`)

// proxy runs `kubectl proxy` until the end of the test.
func proxy(t testing.TB) string {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "kubectl", "proxy", "--port=0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	m := serving.FindStringSubmatch(line)
	if err != nil || m == nil {
		t.Fatalf("kubectl proxy said %q: %v", line, err)
	}
	return "http://" + m[1]
}
