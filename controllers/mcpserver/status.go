package mcpserver

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	ac "github.com/fairlead-dev/fairlead/controllers/applyconfiguration/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/controllers/internal/conditions"
	"github.com/fairlead-dev/fairlead/controllers/internal/outcome"
	"github.com/fairlead-dev/fairlead/controllers/mcpserver/desired"
)

// report computes the status and applies it when it differs from what the
// server has. It is the only write of the status in a reconcile. The events of
// its transitions are told once it is stored.
func (r *Reconciler) report(ctx context.Context, s *scope, failure *outcome.Failure) *outcome.Failure {
	want := r.statusOf(s, failure)
	have := ownStatus(s.server)
	if equality.Semantic.DeepEqual(have, want) {
		return nil
	}
	apply := statusConfiguration(s.server, want)
	err := r.client.Status().Apply(ctx, apply, client.FieldOwner(FieldOwner), client.ForceOwnership)
	switch {
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return nil // the server is gone, or another one has its name: its own event follows
	case err != nil:
		return outcome.Transientf(v1alpha1.ReasonApplyFailed, err, "The status could not be written. %s", outcome.Describe(err))
	}
	s.memory.statusVersion = ptr.Deref(apply.ResourceVersion, "")
	s.events = append(s.events, transitions(have.Conditions, want.Conditions)...)
	return nil
}

// statusOf is the status as it should be.
func (r *Reconciler) statusOf(s *scope, failure *outcome.Failure) v1alpha1.McpServerStatus {
	f := r.factsOf(s, failure)
	replicas := int32(0)
	if d := s.deployment(); d != nil {
		replicas = d.Status.Replicas
	}
	return v1alpha1.McpServerStatus{
		Conditions: conditions.Merge(s.server.Status.Conditions, verdict(f), s.server.Generation,
			metav1.NewTime(r.clock.Now()).Rfc3339Copy()),
		ObservedGeneration:   s.server.Generation,
		Replicas:             &replicas,
		ReadyReplicas:        ptr.To(int32(f.readyNew + f.readyOld)), //nolint:gosec // at most a few thousand pods
		UpdatedReadyReplicas: ptr.To(int32(f.readyNew)),              //nolint:gosec // the same
		Selector:             labels.SelectorFromSet(desired.Selector(s.server)).String(),
		Address:              address(s),
		Server:               serverInfo(s),
	}
}

// address is there from the moment the Service is.
func address(s *scope) *v1alpha1.Address {
	if !s.children.serviceWritten {
		return s.server.Status.Address
	}
	return &v1alpha1.Address{URL: desired.URL(s.server)}
}

// serverInfo is what a ready pod of the current template heard from its
// workload; what was known before stays while nobody answers.
func serverInfo(s *scope) *v1alpha1.ServerInfo {
	for _, v := range s.pods {
		if !v.ready || !v.current || v.answer.Status == nil {
			continue
		}
		w := v.answer.Status.Workload
		info := v1alpha1.ServerInfo{Name: plain(w.Name, 256), Version: plain(w.Version, 256), ProtocolVersion: plain(w.Revision, 64)}
		if info != (v1alpha1.ServerInfo{}) {
			return &info
		}
	}
	return s.server.Status.Server
}

// plain makes a foreign word fit to be shown: no control characters, and as
// long as the schema allows.
func plain(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(s, ""))
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most])
	}
	return s
}

// ownStatus is the server's status without conditions that others have set.
func ownStatus(s *v1alpha1.McpServer) v1alpha1.McpServerStatus {
	out := *s.Status.DeepCopy()
	types := append(v1alpha1.RequiredConditions(), v1alpha1.AdvisoryConditions()...)
	out.Conditions = slices.DeleteFunc(out.Conditions, func(c metav1.Condition) bool { return !slices.Contains(types, c.Type) })
	slices.SortStableFunc(out.Conditions, func(a, b metav1.Condition) int {
		return slices.Index(types, a.Type) - slices.Index(types, b.Type)
	})
	return out
}

func statusConfiguration(s *v1alpha1.McpServer, want v1alpha1.McpServerStatus) *ac.McpServerApplyConfiguration {
	status := ac.McpServerStatus().
		WithObservedGeneration(want.ObservedGeneration).
		WithReplicas(*want.Replicas).
		WithReadyReplicas(*want.ReadyReplicas).
		WithUpdatedReadyReplicas(*want.UpdatedReadyReplicas).
		WithSelector(want.Selector)
	for _, c := range want.Conditions {
		status.WithConditions(metav1ac.Condition().
			WithType(c.Type).WithStatus(c.Status).WithReason(c.Reason).WithMessage(c.Message).
			WithObservedGeneration(c.ObservedGeneration).WithLastTransitionTime(c.LastTransitionTime))
	}
	if want.Address != nil {
		status.WithAddress(ac.Address().WithURL(want.Address.URL))
	}
	if i := want.Server; i != nil {
		info := ac.ServerInfo()
		for _, f := range []struct {
			value string
			set   func(string) *ac.ServerInfoApplyConfiguration
		}{{i.Name, info.WithName}, {i.Version, info.WithVersion}, {i.ProtocolVersion, info.WithProtocolVersion}} {
			if f.value != "" {
				f.set(f.value)
			}
		}
		status.WithServer(info)
	}
	return ac.McpServer(s.Name, s.Namespace).WithUID(s.UID).WithStatus(status)
}
