package mcpserver

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/controllers/internal/apply"
	"github.com/fairlead-dev/fairlead/controllers/internal/events"
	"github.com/fairlead-dev/fairlead/controllers/internal/outcome"
	"github.com/fairlead-dev/fairlead/controllers/internal/ownership"
	"github.com/fairlead-dev/fairlead/controllers/internal/podfault"
	"github.com/fairlead-dev/fairlead/controllers/mcpserver/desired"
)

// scope is one reconcile: what was read, how the read went, what was decided.
// It is made for one call and used by one goroutine.
type scope struct {
	server *v1alpha1.McpServer // from the cache: not to be changed
	names  desired.Names
	owner  ownership.Owner
	in     desired.Input
	memory *memory

	// Rendered.
	template desired.Template
	live     liveContract

	// Read.
	children children
	claims   claims
	pods     []podView

	// Decided.
	// applied: the Deployment was written just now, so its status is not about
	// it yet.
	applied bool
	events  []events.Event
	// autoscaled: an autoscaler writes the Deployment's replicas.
	autoscaled bool
	next       time.Duration // when to look again, 0 for at the next resync
}

// children are what exists, as far as it was looked at.
type children struct {
	// serviceWritten: there is an address to tell.
	serviceWritten bool
	secret         apply.Child
	configMap      apply.Child
	serviceAccount apply.Child
	service        apply.Child
	pdb            apply.Child
	networkPolicy  apply.Child
	deployment     apply.Child
}

// claims is what the persistent volume claims of the spec say.
type claims struct {
	// single is the first claim that only one node can use, "" for none.
	single string
	// missing is true when a claim does not exist.
	missing bool
}

func newScope(s *v1alpha1.McpServer, dp desired.DataPlane, op *desired.Origin, m *memory) *scope {
	return &scope{
		server: s, names: desired.NamesOf(s), owner: desired.OwnerOf(s), memory: m,
		in: desired.Input{Server: s, DataPlane: dp, Operator: op},
	}
}

// deployment is the live Deployment, nil when there is none of ours.
func (s *scope) deployment() *appsv1.Deployment {
	if s.children.deployment.State != ownership.Ours {
		return nil
	}
	d, ok := s.children.deployment.Object.(*appsv1.Deployment)
	if !ok {
		return nil
	}
	return d
}

// within asks for another look in at most d.
func (s *scope) within(d time.Duration) {
	if s.next == 0 || d < s.next {
		s.next = d
	}
}

func (s *scope) tell(e events.Event) { s.events = append(s.events, e) }

// invalid is a failure that only an edit of the spec can end.
func invalid(message string, cause error) *outcome.Failure {
	return &outcome.Failure{Class: outcome.Invalid, Reason: v1alpha1.ReasonInvalidPodTemplate, Message: message, Cause: cause}
}

// claimFault is the fault of a claim that does not exist.
func (s *scope) claimFault() *podfault.Fault {
	if !s.claims.missing {
		return nil
	}
	return podfault.VolumeNotFound(&s.server.Spec)
}
