package app

import (
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/fairlead-dev/fairlead/controllers/operatorconfig"
)

// newLock returns the Lease that says who leads, or nil when nobody has to.
// It is controller-runtime's own but for one thing: no event tells of a change
// of leader. The Lease says it already, and an operator that was only
// restarted should write nothing else (O19).
func newLock(access *rest.Config, le operatorconfig.LeaderElection) (resourcelock.Interface, error) {
	if !*le.Enabled {
		return nil, nil
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("leader election: %w", err)
	}
	access = rest.CopyConfig(access)
	// A request that hangs must not cost the leadership.
	access.Timeout = max(time.Duration(le.RenewSeconds)*time.Second/2, time.Second)
	client, err := coordinationv1.NewForConfig(access)
	if err != nil {
		return nil, fmt.Errorf("leader election: %w", err)
	}
	lock, err := resourcelock.New(resourcelock.LeasesResourceLock, le.Namespace, le.Name, nil, client,
		resourcelock.ResourceLockConfig{Identity: host + "_" + string(uuid.NewUUID())})
	if err != nil {
		return nil, fmt.Errorf("leader election: %w", err)
	}
	return lock, nil
}
