package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/fairlead-dev/fairlead/controllers/internal/podstatus"
	"github.com/fairlead-dev/fairlead/controllers/operatorconfig"
)

// Options is what a manager is made of.
type Options struct {
	Config operatorconfig.Config
	Logger logr.Logger
	// Registerer takes the operator's own metrics.
	Registerer prometheus.Registerer

	// Statuses reads the sidecars' /status. Nil: over HTTP.
	Statuses podstatus.Getter
	// SkipNameValidation lets several managers live in one process.
	SkipNameValidation bool
}

// shutdown bounds how long a manager that must stop waits for its workers. The
// Lease is released before the process ends, so the other manager starts at
// once and not after the lease's time.
const shutdown = 10 * time.Second

// NewManager returns a manager with every controller, ready to be started.
func NewManager(access *rest.Config, o Options) (ctrl.Manager, error) {
	scheme, err := NewScheme()
	if err != nil {
		return nil, err
	}
	caches, err := cacheOptions(o.Config.Watch.Namespaces)
	if err != nil {
		return nil, err
	}
	access = rest.CopyConfig(access)
	access.UserAgent = "fairlead-manager/" + Version()
	// The API server's own priority and fairness is the limit that matters;
	// this one keeps a fault of ours from being a flood.
	access.QPS, access.Burst = 100, 200

	le := o.Config.LeaderElection
	lock, err := newLock(access, le)
	if err != nil {
		return nil, err
	}
	mgr, err := ctrl.NewManager(access, ctrl.Options{
		Scheme:                        scheme,
		Cache:                         caches,
		Logger:                        o.Logger,
		Metrics:                       metricsserver.Options{BindAddress: o.Config.Metrics.BindAddress},
		HealthProbeBindAddress:        o.Config.Health.BindAddress,
		LeaderElection:                *le.Enabled,
		LeaderElectionReleaseOnCancel: true,

		LeaderElectionResourceLockInterface: lock,

		LeaseDuration:           ptr.To(time.Duration(le.LeaseSeconds) * time.Second),
		RenewDeadline:           ptr.To(time.Duration(le.RenewSeconds) * time.Second),
		RetryPeriod:             ptr.To(time.Duration(le.RetrySeconds) * time.Second),
		GracefulShutdownTimeout: ptr.To(shutdown),
		Controller: config.Controller{
			// The one that waits has its caches filled when it must lead.
			EnableWarmup: ptr.To(true),
		},
	})
	if err != nil {
		return nil, fmt.Errorf("manager: %w", err)
	}
	if err := addControllers(mgr, o); err != nil {
		return nil, err
	}
	return mgr, addChecks(mgr)
}

// addChecks: alive is whoever answers; ready is who has seen the cluster.
func addChecks(mgr ctrl.Manager) error {
	synced := func(r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), time.Second)
		defer cancel()
		if !mgr.GetCache().WaitForCacheSync(ctx) {
			return errors.New("the caches are not filled yet")
		}
		return nil
	}
	return errors.Join(mgr.AddHealthzCheck("ping", healthz.Ping), mgr.AddReadyzCheck("caches", synced))
}
