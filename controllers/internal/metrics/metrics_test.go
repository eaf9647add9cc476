package metrics_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/controllers/internal/metrics"
	"github.com/fairlead-dev/fairlead/controllers/internal/outcome"
)

type reader struct {
	client.Reader
	items []v1alpha1.McpServer
	err   error
}

func (r reader) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	list.(*v1alpha1.McpServerList).Items = r.items
	return r.err
}

func TestCollect(t *testing.T) {
	m := metrics.New(reader{items: []v1alpha1.McpServer{{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "demo"},
		Spec:       v1alpha1.McpServerSpec{Workload: v1alpha1.Workload{Type: v1alpha1.WorkloadStdio}},
		Status: v1alpha1.McpServerStatus{
			ReadyReplicas: ptr.To(int32(2)),
			Server:        &v1alpha1.ServerInfo{ProtocolVersion: "2025-11-25"},
			Conditions:    []metav1.Condition{{Type: "Ready", Status: metav1.ConditionUnknown}},
		},
	}}})
	m.Outcome(outcome.Conflict)
	want := `
# HELP fairlead_reconcile_failures_total Reconciles that did not reach their end, by class: Invalid, Waiting, Conflict or Transient.
# TYPE fairlead_reconcile_failures_total counter
fairlead_reconcile_failures_total{class="Conflict"} 1
fairlead_reconcile_failures_total{class="Invalid"} 0
fairlead_reconcile_failures_total{class="Transient"} 0
fairlead_reconcile_failures_total{class="Waiting"} 0
# HELP fairlead_server_condition 1 for the status (True, False, Unknown) that each condition of each McpServer has now.
# TYPE fairlead_server_condition gauge
fairlead_server_condition{name="demo",namespace="team",status="Unknown",type="Ready"} 1
# HELP fairlead_server_info 1 for each McpServer; transport is how the sidecar reaches the workload, protocol the revision that the workload answered with.
# TYPE fairlead_server_info gauge
fairlead_server_info{name="demo",namespace="team",protocol="2025-11-25",transport="stdio"} 1
# HELP fairlead_server_ready_replicas Pods of each McpServer that answer clients now.
# TYPE fairlead_server_ready_replicas gauge
fairlead_server_ready_replicas{name="demo",namespace="team"} 2
`
	if err := testutil.CollectAndCompare(m, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}

func TestCollectBeforeTheCacheIsFilled(t *testing.T) {
	m := metrics.New(reader{err: errors.New("not started")})
	if n := testutil.CollectAndCount(m); n != 4 {
		t.Errorf("%d metrics, want the four counters", n)
	}
}
