package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/controllers/internal/apply"
	"github.com/fairlead-dev/fairlead/controllers/internal/events"
	"github.com/fairlead-dev/fairlead/controllers/internal/outcome"
	"github.com/fairlead-dev/fairlead/controllers/mcpserver/desired"
)

// annotationRestartedAt is what kubectl rollout restart puts on a template.
const annotationRestartedAt = "kubectl.kubernetes.io/restartedAt"

// workload writes the Deployment and tells why pods are replaced.
func (r *Reconciler) workload(ctx context.Context, s *scope) *outcome.Failure {
	live := s.deployment()
	s.in.LeaveReplicas = r.leaveReplicas(s, live)
	restart := ""
	if live != nil {
		restart = live.Spec.Template.Annotations[annotationRestartedAt]
		if f := r.keepTemplate(s, live, restart); f != nil {
			return f
		}
	}
	res, f := r.apply(ctx, s, s.children.deployment, "Deployment", s.names.Deployment, desired.Deployment(s.in, s.template, restart))
	if f != nil {
		return deploymentFailure(f)
	}
	s.applied = res.Created || res.Updated
	switch {
	case res.Created:
		s.tell(events.Created(desired.Replicas(s.server), desired.URL(s.server)))
		if s.claims.single != "" {
			s.tell(events.RecreateStrategy(s.claims.single))
		}
	case res.Updated:
		r.tellUpdate(s, live, res)
	}
	return nil
}

// keepTemplate keeps the template that runs when an upgrade of the operator is
// all that differs from it. A template that somebody else has changed is not
// kept but built anew, since what they took is no part of ours any more: to
// keep the rest would leave their change in force.
func (r *Reconciler) keepTemplate(s *scope, live *appsv1.Deployment, restart string) *outcome.Failure {
	if !keepsTemplate(live, s.template) {
		return nil
	}
	taken, err := r.applier.TakenBelow(s.children.deployment, desired.Deployment(s.in, s.template, restart), ".spec.template.")
	if taken {
		return nil
	}
	var kept *corev1ac.PodTemplateSpecApplyConfiguration
	if err == nil {
		kept, err = r.keptTemplate(s)
	}
	if err != nil {
		return deploymentFailure(outcome.Transientf(v1alpha1.ReasonApplyFailed, err, "The live Deployment cannot be read as one of ours."))
	}
	s.template.Pod, s.template.Build = kept, live.Annotations[desired.AnnotationBuild]
	return nil
}

// keepsTemplate is true when the user's part of the template is what runs and
// only the operator's part differs: an upgrade of the operator rolls no fleet
// (O22). The next change of the user's, or a kubectl rollout restart, brings
// the operator's part along.
func keepsTemplate(live *appsv1.Deployment, built desired.Template) bool {
	return live.Spec.Template.Labels[v1alpha1.LabelTemplate] == built.Hash &&
		live.Annotations[desired.AnnotationBuild] != "" &&
		live.Annotations[desired.AnnotationBuild] != built.Build &&
		live.Annotations[desired.AnnotationRestart] == live.Spec.Template.Annotations[annotationRestartedAt]
}

// keptTemplate is the template that we applied before, as it is now.
func (r *Reconciler) keptTemplate(s *scope) (*corev1ac.PodTemplateSpecApplyConfiguration, error) {
	owned, err := r.applier.Owned(s.children.deployment)
	if err != nil {
		return nil, err
	}
	spec, _ := owned["spec"].(map[string]any)
	template, ok := spec["template"].(map[string]any)
	if !ok {
		return nil, errors.New("no pod template of ours")
	}
	out := &corev1ac.PodTemplateSpecApplyConfiguration{}
	return out, runtime.DefaultUnstructuredConverter.FromUnstructured(template, out)
}

// tellUpdate tells what an update of the Deployment meant.
func (r *Reconciler) tellUpdate(s *scope, live *appsv1.Deployment, res apply.Result) {
	was, is := ptr.Deref(live.Spec.Replicas, 1), desired.Replicas(s.server)
	switch {
	case res.Taken:
		s.tell(events.Corrected("Deployment", s.names.Deployment))
	case was != is && !s.in.LeaveReplicas:
		s.tell(events.Scaled(was, is))
	}
	if s.claims.single != "" && live.Spec.Strategy.Type != appsv1.RecreateDeploymentStrategyType {
		s.tell(events.RecreateStrategy(s.claims.single))
	}
	switch {
	case live.Spec.Template.Labels[v1alpha1.LabelTemplate] != s.template.Hash:
		s.tell(events.RollingOut(desired.FirstDifference(live.Annotations[desired.AnnotationFields], s.template.Fields)))
	case live.Annotations[desired.AnnotationBuild] != s.template.Build:
		s.tell(events.RollingOut(""))
	}
}

// deploymentFailure tells a spec that makes no legal pod from a failure that
// may pass: only the API server knows all the rules for pods.
func deploymentFailure(f *outcome.Failure) *outcome.Failure {
	var shape *apply.ShapeError
	switch {
	case errors.As(f.Cause, &shape):
		return invalid("No Deployment can be made from this spec: "+shape.Err.Error()+".", f.Cause)
	case apierrors.IsInvalid(f.Cause):
		return invalid("The API server refuses the Deployment made from this spec"+refusedFields(f.Cause)+".", f.Cause)
	}
	return f
}

// refusedFields lists paths and kinds of error, without values.
func refusedFields(err error) string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return ""
	}
	const most = 3
	var out []string
	for _, c := range status.Status().Details.Causes {
		if len(out) == most {
			break
		}
		if c.Field != "" {
			out = append(out, fmt.Sprintf("%s (%s)", c.Field, causeWord(c.Type)))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return ": " + strings.Join(out, ", ")
}

func causeWord(t metav1.CauseType) string {
	switch t {
	case metav1.CauseTypeFieldValueRequired:
		return "required"
	case metav1.CauseTypeFieldValueDuplicate:
		return "duplicate"
	case metav1.CauseTypeFieldValueNotFound:
		return "not found"
	case metav1.CauseTypeFieldValueNotSupported:
		return "not supported"
	}
	return "invalid"
}
