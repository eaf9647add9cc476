// Package world is a test's hold on the cluster: clients, namespaces that go
// away again, objects from config/samples, and waiting with a useful story
// when it takes too long.
//
// It must not know what a single test is about.
package world

import (
	"context"
	"errors"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
)

// Where the operator is installed by config/default.
const (
	OperatorNamespace = "fairlead-system"
	OperatorName      = "fairlead-manager"
)

// World is one cluster. Safe for concurrent use.
type World struct {
	client.WithWatch
	// Clientset is for what the other client cannot do: logs, exec.
	Clientset kubernetes.Interface
	Config    *rest.Config
}

// Open connects to the cluster of $KUBECONFIG.
func Open() (*World, error) {
	path := os.Getenv("KUBECONFIG")
	if path == "" {
		return nil, errors.New("KUBECONFIG is not set: run `make test-e2e`, or set it to a cluster of your own")
	}
	cfg, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		return nil, err
	}
	cfg.UserAgent = "fairlead-e2e"
	// Tests poll; the default of 5 requests a second would slow them down.
	cfg.QPS, cfg.Burst = 100, 200
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	c, err := client.NewWithWatch(cfg, client.Options{Scheme: scheme})
	if err != nil {
		return nil, err
	}
	set, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	return &World{WithWatch: c, Clientset: set, Config: cfg}, nil
}

// Check reports what a test run would miss, before the first test waits for it.
func (w *World) Check(ctx context.Context) error {
	var servers v1alpha1.McpServerList
	if err := w.List(ctx, &servers, client.Limit(1)); err != nil {
		return fmt.Errorf("the cluster has no McpServers, install the operator with `make deploy`: %w", err)
	}
	var pods corev1.PodList
	if err := w.List(ctx, &pods, client.InNamespace(OperatorNamespace)); err != nil {
		return err
	}
	for _, p := range pods.Items {
		if PodReady(&p) {
			return nil
		}
	}
	return fmt.Errorf("no pod of the operator is ready in namespace %s: install it with `make deploy`", OperatorNamespace)
}
