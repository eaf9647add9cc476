package app

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
)

// cacheOptions caches little: of children and pods only those with our label,
// of everything but children no managedFields. Children keep theirs, because
// they say what an apply would change (O19). Whatever is not listed here is
// never cached: a read of it through the cache fails instead of starting a
// watch that nobody granted (Secrets above all, O16).
func cacheOptions(namespaces []string) (cache.Options, error) {
	labelled, err := labels.NewRequirement(v1alpha1.LabelServer, selection.Exists, nil)
	if err != nil {
		return cache.Options{}, fmt.Errorf("cache: %w", err)
	}
	ours := labels.NewSelector().Add(*labelled)
	child := cache.ByObject{Label: ours, Transform: keep}
	o := cache.Options{
		ReaderFailOnMissingInformer: true,
		DefaultTransform:            cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&appsv1.Deployment{}:            child,
			&corev1.Service{}:               child,
			&corev1.ConfigMap{}:             child,
			&corev1.ServiceAccount{}:        child,
			&policyv1.PodDisruptionBudget{}: child,
			&networkingv1.NetworkPolicy{}:   child,
			&corev1.Pod{}:                   {Label: ours},
		},
	}
	if len(namespaces) > 0 {
		o.DefaultNamespaces = map[string]cache.Config{}
		for _, n := range namespaces {
			o.DefaultNamespaces[n] = cache.Config{}
		}
	}
	return o, nil
}

// keep is the transform that changes nothing; nil would mean the default one.
var _ toolscache.TransformFunc = keep

func keep(obj any) (any, error) { return obj, nil }
