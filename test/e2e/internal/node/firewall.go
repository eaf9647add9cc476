package node

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// Firewall runs kube-router in the node's network, as an implementation that enforces
// NetworkPolicy, until the end of the test.
func (n *Node) Firewall(t testing.TB, program string) {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "kube-router.log"))
	if err != nil {
		t.Fatal(err)
	}
	name, err := n.run(t.Context(), "kubectl", "get", "nodes", "-o", "jsonpath={.items[0].metadata.name}")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), n.tool, "exec", "--", program,
		"--run-firewall=true", "--run-router=false", "--run-service-proxy=false", "--run-loadbalancer=false",
		"--kubeconfig="+os.Getenv("KUBECONFIG"), "--hostname-override="+string(name), "--health-port=0")
	cmd.Env = append(os.Environ(), "NODE_NAME="+string(name))
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var failed error // read after ended
	ended := make(chan struct{})
	go func() {
		failed = cmd.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			_ = cmd.Process.Kill()
			<-ended
		}
		if t.Failed() {
			if text, err := os.ReadFile(log.Name()); err == nil {
				t.Logf("kube-router said:\n%s", text)
			}
		}
		log.Close()
	})
	select {
	case <-ended:
		t.Fatalf("kube-router ended at once: %v", failed)
	case <-time.After(2 * time.Second):
	}
}
