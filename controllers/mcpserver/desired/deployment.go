package desired

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
)

// Annotations on the Deployment that remember what its template was made from.
const (
	// AnnotationFields holds Template.Fields.
	AnnotationFields = v1alpha1.LabelPrefix + "template-fields"
	// AnnotationBuild holds Template.Build.
	AnnotationBuild = v1alpha1.LabelPrefix + "template-build"
	// AnnotationRestart holds the restart request (kubectl rollout restart)
	// that was on the template when it was last built anew.
	AnnotationRestart = v1alpha1.LabelPrefix + "restart-seen"
)

// ProgressDeadlineSeconds is when a rollout counts as failed (O7).
const ProgressDeadlineSeconds = 600

// Replicas is how many pods s wants.
func Replicas(s *v1alpha1.McpServer) int32 { return ptr.Deref(s.Spec.Replicas, 1) }

// Deployment runs the pods of template t. restart is the value for
// AnnotationRestart.
func Deployment(in Input, t Template, restart string) *appsv1ac.DeploymentApplyConfiguration {
	s := in.Server
	annotations := map[string]string{AnnotationFields: t.Fields, AnnotationBuild: t.Build}
	if restart != "" {
		annotations[AnnotationRestart] = restart
	}
	spec := appsv1ac.DeploymentSpec().
		WithSelector(metav1ac.LabelSelector().WithMatchLabels(Selector(s))).
		WithStrategy(strategy(in.SingleWriter)).
		WithMinReadySeconds(5).
		WithProgressDeadlineSeconds(ProgressDeadlineSeconds).
		WithRevisionHistoryLimit(3).
		WithTemplate(t.Pod)
	if !in.LeaveReplicas {
		spec.WithReplicas(Replicas(s))
	}
	return appsv1ac.Deployment(NamesOf(s).Deployment, s.Namespace).
		WithLabels(Labels(s)).
		WithAnnotations(annotations).
		WithOwnerReferences(in.owner().Reference()).
		WithSpec(spec)
}

// strategy never takes a ready pod away before its successor is ready, unless
// both need a volume that only one node can use: then the new one would wait
// for the old one and the old one for the new one (O25).
func strategy(singleWriter bool) *appsv1ac.DeploymentStrategyApplyConfiguration {
	if singleWriter {
		return appsv1ac.DeploymentStrategy().WithType(appsv1.RecreateDeploymentStrategyType)
	}
	return appsv1ac.DeploymentStrategy().
		WithType(appsv1.RollingUpdateDeploymentStrategyType).
		WithRollingUpdate(appsv1ac.RollingUpdateDeployment().
			WithMaxUnavailable(intstr.FromInt32(0)).
			WithMaxSurge(intstr.FromString("25%")))
}
