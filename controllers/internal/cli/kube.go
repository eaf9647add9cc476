package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime/pkg/client"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/sidecar/config"
)

// kube is a cluster as the kubeconfig names it.
type kube struct {
	rest      *rest.Config
	client    ctrl.Client
	namespace string
}

func newKube(o options) (cluster, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.kubeconfig
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: o.context})
	cfg, err := loader.ClientConfig()
	if err != nil {
		return nil, err
	}
	cfg.UserAgent = "kubectl-mcp"
	ns := o.namespace
	if ns == "" {
		if ns, _, err = loader.Namespace(); err != nil {
			return nil, err
		}
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	client, err := ctrl.New(cfg, ctrl.Options{Scheme: scheme})
	if err != nil {
		return nil, err
	}
	return &kube{rest: cfg, client: client, namespace: ns}, nil
}

func (k *kube) server(ctx context.Context, name string) (*v1alpha1.McpServer, error) {
	var s v1alpha1.McpServer
	if err := k.client.Get(ctx, ctrl.ObjectKey{Namespace: k.namespace, Name: name}, &s); err != nil {
		return nil, worded(err)
	}
	return &s, nil
}

func (k *kube) servers(ctx context.Context, allNamespaces bool) ([]v1alpha1.McpServer, error) {
	var opts []ctrl.ListOption
	if !allNamespaces {
		opts = append(opts, ctrl.InNamespace(k.namespace))
	}
	var list v1alpha1.McpServerList
	if err := k.client.List(ctx, &list, opts...); err != nil {
		return nil, worded(err)
	}
	return list.Items, nil
}

func (k *kube) template(ctx context.Context, s *v1alpha1.McpServer) (string, error) {
	var d appsv1.Deployment
	if err := k.client.Get(ctx, ctrl.ObjectKeyFromObject(s), &d); err != nil {
		return "", err
	}
	return d.Spec.Template.Labels[v1alpha1.LabelTemplate], nil
}

func (k *kube) pods(ctx context.Context, s *v1alpha1.McpServer) ([]corev1.Pod, error) {
	var list corev1.PodList
	if err := k.client.List(ctx, &list, ctrl.InNamespace(s.Namespace), ctrl.MatchingLabels{v1alpha1.LabelServer: s.Name}); err != nil {
		return nil, err
	}
	slices.SortFunc(list.Items, byName)
	return list.Items, nil
}

func (k *kube) live(ctx context.Context, s *v1alpha1.McpServer) ([]byte, error) {
	var list corev1.ConfigMapList
	if err := k.client.List(ctx, &list, ctrl.InNamespace(s.Namespace), ctrl.MatchingLabels{v1alpha1.LabelServer: s.Name}); err != nil {
		return nil, err
	}
	for _, m := range list.Items {
		// Found by owner, not by name: an object that only looks like ours is not.
		if !metav1.IsControlledBy(&m, s) {
			continue
		}
		for _, v := range config.ContractVersions() {
			if gz, ok := m.BinaryData[config.LiveKey(v)]; ok {
				return gz, nil
			}
		}
	}
	return nil, fmt.Errorf("McpServer %s/%s has no live contract yet", s.Namespace, s.Name)
}

// worded replaces the error of a cluster that does not know the kind.
func worded(err error) error {
	if meta.IsNoMatchError(err) {
		return fmt.Errorf("this cluster has no McpServers: install Fairlead first (%w)", err)
	}
	return err
}
