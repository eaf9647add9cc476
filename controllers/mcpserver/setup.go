package mcpserver

import (
	"context"
	"time"

	"golang.org/x/time/rate"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
)

// The rights that the reconciler uses, all of them. Secrets have no list and
// no watch: only names that we made are read (O16). Pods are patched for the
// touch (O15). The finalizers subresource is what the API server's
// OwnerReferencesPermissionEnforcement asks for, where it is on, because our
// owner references block a foreground deletion.
//
// +kubebuilder:rbac:groups=mcp.fairlead.dev,resources=mcpservers,verbs=get;list;watch
// +kubebuilder:rbac:groups=mcp.fairlead.dev,resources=mcpservers/status,verbs=patch
// +kubebuilder:rbac:groups=mcp.fairlead.dev,resources=mcpservers/finalizers,verbs=update
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups="",resources=services;configmaps;serviceaccounts,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;create;patch
// +kubebuilder:rbac:groups="",resources=pods,verbs=list;watch;patch
// +kubebuilder:rbac:groups="",resources=events,verbs=list
// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=get
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Limits are the controller's own.
type Limits struct {
	// Concurrency is how many servers are reconciled at the same time.
	Concurrency int
	// Timeout bounds one reconcile.
	Timeout time.Duration
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, l Limits, skipNameValidation bool) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("mcpserver").
		// Our own status writes change no generation.
		For(&v1alpha1.McpServer{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Owns(&appsv1.Deployment{}).
		Owns(&corev1.Service{}).
		Owns(&corev1.ConfigMap{}).
		Owns(&corev1.ServiceAccount{}).
		Owns(&networkingv1.NetworkPolicy{}).
		// Its status follows every pod.
		Owns(&policyv1.PodDisruptionBudget{}, builder.WithPredicates(specOrMetadataChanged())).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(serverOf), builder.WithPredicates(podChanged())).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: l.Concurrency,
			ReconciliationTimeout:   l.Timeout,
			RateLimiter:             rateLimiter(),
			SkipNameValidation:      &skipNameValidation,
		}).
		Complete(r)
}

// rateLimiter backs a failing server off from 200 ms to a minute, and all of
// them together to ten a second, so that an API server that comes back is not
// met by a stampede.
func rateLimiter() workqueue.TypedRateLimiter[reconcile.Request] {
	return workqueue.NewTypedMaxOfRateLimiter(
		workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](200*time.Millisecond, time.Minute),
		&workqueue.TypedBucketRateLimiter[reconcile.Request]{Limiter: rate.NewLimiter(10, 100)},
	)
}

// serverOf maps a pod to its server by label. A pod that only pretends costs
// one reconcile of a server that may not exist.
func serverOf(_ context.Context, pod client.Object) []reconcile.Request {
	name := pod.GetLabels()[v1alpha1.LabelServer]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: pod.GetNamespace(), Name: name}}}
}

// podChanged drops changes of pods that no condition is made from, our own
// touches among them.
func podChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*corev1.Pod)
		after, ok2 := e.ObjectNew.(*corev1.Pod)
		if !ok || !ok2 {
			return true
		}
		return (before.DeletionTimestamp == nil) != (after.DeletionTimestamp == nil) ||
			before.Spec.NodeName != after.Spec.NodeName ||
			!equality.Semantic.DeepEqual(before.Labels, after.Labels) ||
			!equality.Semantic.DeepEqual(before.Status, after.Status)
	}}
}

// specOrMetadataChanged drops changes of nothing but the status.
func specOrMetadataChanged() predicate.Predicate {
	return predicate.Or(
		predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}, predicate.AnnotationChangedPredicate{},
		predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
			return !equality.Semantic.DeepEqual(e.ObjectOld.GetOwnerReferences(), e.ObjectNew.GetOwnerReferences())
		}},
	)
}
