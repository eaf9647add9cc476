package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/sidecar/config"
)

// fakeCluster is a cluster with one McpServer, named demo.
type fakeCluster struct {
	t        *testing.T
	s        v1alpha1.McpServer
	podList  []corev1.Pod
	gz       []byte
	statuses map[string]config.Status // by pod; absent: nothing answers
	forwards []string
}

func (f *fakeCluster) server(_ context.Context, name string) (*v1alpha1.McpServer, error) {
	if name != f.s.Name {
		return nil, fmt.Errorf("mcpservers %q not found", name)
	}
	return f.s.DeepCopy(), nil
}

func (f *fakeCluster) servers(context.Context, bool) ([]v1alpha1.McpServer, error) {
	return []v1alpha1.McpServer{f.s}, nil
}

func (f *fakeCluster) template(context.Context, *v1alpha1.McpServer) (string, error) {
	return "new", nil
}

func (f *fakeCluster) pods(context.Context, *v1alpha1.McpServer) ([]corev1.Pod, error) {
	return f.podList, nil
}

func (f *fakeCluster) live(context.Context, *v1alpha1.McpServer) ([]byte, error) { return f.gz, nil }

func (f *fakeCluster) forward(_ context.Context, pod corev1.Pod, port int) (string, func(), error) {
	f.forwards = append(f.forwards, fmt.Sprintf("%s:%d", pod.Name, port))
	s, ok := f.statuses[pod.Name]
	if !ok {
		return "", nil, errors.New("connection refused")
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != config.PathStatus {
			http.NotFound(w, r)
			return
		}
		if err := json.NewEncoder(w).Encode(s); err != nil {
			f.t.Error(err)
		}
	}))
	return web.URL, web.Close, nil
}

// fakeSession is a server with one tool, echo.
type fakeSession struct{ closed bool }

func (*fakeSession) revision() string { return "2026-07-28" }

func (*fakeSession) tools(context.Context) ([]json.RawMessage, error) {
	return []json.RawMessage{json.RawMessage(`{"name":"echo","description":"Says\n it \u001b[31mback"}`)}, nil
}

func (*fakeSession) call(_ context.Context, tool string, args json.RawMessage) (json.RawMessage, error) {
	switch tool {
	case "echo":
		return json.RawMessage(`{"content":[{"type":"text","text":` + string(quoted(args)) + `},{"type":"image","data":"AA==", "mimeType":"image/png"}]}`), nil
	case "structured":
		return json.RawMessage(`{"content":[],"structuredContent":{"sum": 5}}`), nil
	case "broken":
		return json.RawMessage(`{"isError":true,"content":[{"type":"text","text":"disk full"}]}`), nil
	}
	return nil, errors.New("-32602: unknown tool")
}

func (s *fakeSession) close() error { s.closed = true; return nil }

func quoted(raw []byte) []byte {
	q, err := json.Marshal(string(raw))
	if err != nil {
		panic(err)
	}
	return q
}

func pod(name, template string, ready bool) corev1.Pod {
	p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", Labels: map[string]string{v1alpha1.LabelTemplate: template}}}
	p.Status.Phase = corev1.PodRunning
	status := corev1.ConditionFalse
	if ready {
		status = corev1.ConditionTrue
	}
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: status}}
	return p
}

func newFake(t *testing.T) *fakeCluster {
	f := &fakeCluster{t: t, statuses: map[string]config.Status{}}
	f.s.Name, f.s.Namespace = "demo", "ns"
	one := int32(1)
	f.s.Spec.Replicas, f.s.Status.ReadyReplicas = &one, &one
	f.s.Status.Address = &v1alpha1.Address{URL: "http://demo.ns.svc/mcp"}
	f.s.Status.Conditions = []metav1.Condition{
		{Type: v1alpha1.ConditionAvailable, Status: "True", Reason: v1alpha1.ReasonAvailable},
		{Type: v1alpha1.ConditionReady, Status: "True", Reason: v1alpha1.ReasonReady},
	}
	f.podList = []corev1.Pod{pod("demo-a", "old", false), pod("demo-b", "new", true)}
	f.statuses["demo-b"] = config.Status{Ready: true, Workload: config.WorkloadStatus{State: config.WorkloadUp, Revision: "2025-11-25"}}
	return f
}

// tried is how a command line ended.
type tried struct {
	code     int
	out, err string
	session  *fakeSession
}

func try(f *fakeCluster, stdin string, line ...string) tried {
	var out, errs bytes.Buffer
	s := &fakeSession{}
	p := &plugin{
		streams: Streams{In: strings.NewReader(stdin), Out: &out, Err: &errs},
		cluster: func(options) (cluster, error) { return f, nil },
		dial:    func(context.Context, string) (session, error) { return s, nil },
	}
	code := run(context.Background(), line, p)
	return tried{code, out.String(), errs.String(), s}
}
