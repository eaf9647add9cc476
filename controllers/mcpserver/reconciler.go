package mcpserver

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/controllers/internal/apply"
	"github.com/fairlead-dev/fairlead/controllers/internal/events"
	"github.com/fairlead-dev/fairlead/controllers/internal/outcome"
	"github.com/fairlead-dev/fairlead/controllers/internal/podstatus"
	"github.com/fairlead-dev/fairlead/controllers/mcpserver/desired"
)

// FieldOwner is the one field manager of everything that we apply (D12).
const FieldOwner = "fairlead"

// resync is how often a server is looked at when nothing happens: what is not
// watched, the key Secret above all, is found missing within it.
const resync = 10 * time.Minute

// Reconciler brings one McpServer to what its spec says. All fields are set by
// New and not changed after; Reconcile may run concurrently for different
// servers.
type Reconciler struct {
	client   client.Client // reads from the cache
	live     client.Reader // reads from the API server
	applier  *apply.Applier
	statuses *podstatus.Reader
	recorder events.Recorder
	clock    clock.PassiveClock
	memories *memories
	observe  func(outcome.Class)

	dataPlane desired.DataPlane
	operator  *desired.Origin
}

// Dependencies is what a Reconciler needs from its surroundings.
type Dependencies struct {
	// Client reads from a cache that keeps managedFields of children.
	Client client.Client
	// Live reads from the API server.
	Live     client.Reader
	Recorder events.Recorder
	// Statuses reads the sidecars' /status.
	Statuses podstatus.Getter
	Clock    clock.PassiveClock
	// Outcome is told of each failure's class; may be nil.
	Outcome func(outcome.Class)

	DataPlane desired.DataPlane
	// Operator is where the operator's own pods are; nil out of the cluster.
	Operator *desired.Origin
}

// New returns a Reconciler.
func New(d Dependencies) *Reconciler {
	return &Reconciler{
		client: d.Client, live: d.Live, recorder: d.Recorder, clock: d.Clock,
		applier:   apply.New(d.Client, d.Live, FieldOwner),
		statuses:  podstatus.New(d.Statuses, d.Clock),
		memories:  newMemories(),
		observe:   d.Outcome,
		dataPlane: d.DataPlane, operator: d.Operator,
	}
}

// Reconcile implements reconcile.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	server, err := r.read(ctx, req)
	if err != nil {
		return outcome.Resolve(ctx, outcome.Of(err, v1alpha1.ReasonApplyFailed), 0)
	}
	if server == nil || server.DeletionTimestamp != nil {
		// The children go with their owner; nothing of ours needs to help.
		r.forget(req)
		return ctrl.Result{}, nil
	}
	s := newScope(server, r.dataPlane, r.operator, r.memories.of(req.NamespacedName, server.UID))
	s.within(resync)

	failure := r.write(ctx, s)
	if f := r.look(ctx, s); failure == nil {
		failure = f
	}
	if f := r.report(ctx, s, failure); failure == nil {
		failure = f
	}
	for _, e := range s.events {
		events.Send(r.recorder, server, e)
	}
	if failure != nil && r.observe != nil {
		r.observe(failure.Class)
	}
	return outcome.Resolve(ctx, failure, s.next)
}

// write runs the phases that change children, up to the first failure.
func (r *Reconciler) write(ctx context.Context, s *scope) *outcome.Failure {
	for _, phase := range []func(context.Context, *scope) *outcome.Failure{
		r.render, r.readClaims, r.claimNames, r.keys, r.contract, r.network, r.workload,
	} {
		if f := phase(ctx, s); f != nil {
			return f
		}
	}
	return nil
}

// look runs the phases that observe.
func (r *Reconciler) look(ctx context.Context, s *scope) *outcome.Failure {
	if f := r.observePods(ctx, s); f != nil {
		return f
	}
	return r.touch(ctx, s)
}

// read returns the server, nil when it does not exist. When the cache has not
// seen our last status yet, it is read from the API server: judging an old
// status would tell the same transition twice.
func (r *Reconciler) read(ctx context.Context, req ctrl.Request) (*v1alpha1.McpServer, error) {
	server := &v1alpha1.McpServer{}
	err := r.client.Get(ctx, req.NamespacedName, server)
	if err == nil {
		wrote := r.memories.of(req.NamespacedName, server.UID).statusVersion
		if order, cmpErr := resourceversion.CompareResourceVersion(server.ResourceVersion, wrote); wrote != "" && cmpErr == nil && order < 0 {
			server = &v1alpha1.McpServer{}
			err = r.live.Get(ctx, req.NamespacedName, server)
		}
	}
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return server, nil
}

func (r *Reconciler) forget(req ctrl.Request) {
	if uid, ok := r.memories.drop(req.NamespacedName); ok {
		r.statuses.Forget(uid)
	}
	r.applier.Forget(req.Namespace, req.Name)
}
