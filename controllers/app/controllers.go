package app

import (
	"fmt"
	"time"

	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/fairlead-dev/fairlead/controllers/internal/metrics"
	"github.com/fairlead-dev/fairlead/controllers/internal/podstatus"
	"github.com/fairlead-dev/fairlead/controllers/mcpserver"
	"github.com/fairlead-dev/fairlead/controllers/mcpserver/desired"
	"github.com/fairlead-dev/fairlead/controllers/operatorconfig"
)

// addControllers registers every controller: this is the list.
func addControllers(mgr ctrl.Manager, o Options) error {
	c := o.Config
	m := metrics.New(mgr.GetClient())
	if err := o.Registerer.Register(m); err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	statuses := o.Statuses
	if statuses == nil {
		statuses = podstatus.NewHTTP(time.Duration(c.Controller.StatusTimeoutSeconds) * time.Second)
	}
	servers := mcpserver.New(mcpserver.Dependencies{
		Client:    mgr.GetClient(),
		Live:      mgr.GetAPIReader(),
		Recorder:  mgr.GetEventRecorder("fairlead"),
		Statuses:  statuses,
		Clock:     clock.RealClock{},
		Outcome:   m.Outcome,
		DataPlane: desired.DataPlane{Image: c.DataPlane.Image, ImagePullPolicy: c.DataPlane.ImagePullPolicy},
		Operator:  origin(c.Operator),
	})
	limits := mcpserver.Limits{
		Concurrency: c.Controller.Concurrency,
		Timeout:     time.Duration(c.Controller.TimeoutSeconds) * time.Second,
	}
	if err := servers.SetupWithManager(mgr, limits, o.SkipNameValidation); err != nil {
		return fmt.Errorf("controller mcpserver: %w", err)
	}
	return nil
}

func origin(o operatorconfig.Operator) *desired.Origin {
	if o.Namespace == "" {
		return nil
	}
	return &desired.Origin{Namespace: o.Namespace, PodLabels: o.PodLabels}
}
