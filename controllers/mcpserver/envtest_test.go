package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/controllers/internal/conditions"
	"github.com/fairlead-dev/fairlead/controllers/mcpserver/desired"
	"github.com/fairlead-dev/fairlead/sidecar/config"
	"github.com/fairlead-dev/fairlead/test/testkit"
)

var plane testkit.ControlPlane

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(plane.Run(m))
}

// world is one namespace of a real API server with a reconciler that is called
// directly, and with what the test plays itself: the Deployment controller, the
// kubelet and the sidecars.
type world struct {
	t         testing.TB
	c         client.Client // everybody but the operator
	operator  client.Client
	writes    *writes
	ns        string
	r         *Reconciler
	clock     *clocktesting.FakePassiveClock
	recorder  *recorder
	sidecars  *sidecars
	dataPlane desired.DataPlane
}

func newWorld(t testing.TB) *world {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		v1alpha1.AddToScheme, corev1.AddToScheme, appsv1.AddToScheme, policyv1.AddToScheme, networkingv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	c, err := client.New(plane.Config(t), client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	writes := &writes{}
	access := plane.Config(t)
	access.Wrap(writes.transport)
	operator, err := client.New(access, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		t: t, c: c, operator: operator, writes: writes, ns: testkit.Namespace(t, c),
		clock:     clocktesting.NewFakePassiveClock(time.Now()),
		recorder:  &recorder{},
		sidecars:  &sidecars{byIP: map[string]config.Status{}},
		dataPlane: desired.DataPlane{Image: "registry.example/sidecar:1", ImagePullPolicy: corev1.PullIfNotPresent},
	}
	w.restartOperator()
	return w
}

// restartOperator forgets everything that a process remembers.
func (w *world) restartOperator() {
	w.r = New(Dependencies{
		Client: w.operator, Live: w.operator, Recorder: w.recorder, Statuses: w.sidecars, Clock: w.clock, DataPlane: w.dataPlane,
		Operator: &desired.Origin{Namespace: "fairlead-system", PodLabels: map[string]string{"app": "fairlead"}},
	})
}

// server makes a small McpServer; edit changes it before it is created.
func (w *world) server(edit func(*v1alpha1.McpServer)) *v1alpha1.McpServer {
	w.t.Helper()
	s := &v1alpha1.McpServer{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "demo"},
		Spec: v1alpha1.McpServerSpec{Workload: v1alpha1.Workload{
			Type: v1alpha1.WorkloadStdio, Image: "registry.example/demo:1", Command: []string{"/demo"},
		}},
	}
	if edit != nil {
		edit(s)
	}
	w.must(w.c.Create(w.t.Context(), s))
	return s
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// reconcile calls the reconciler once and checks that the status it leaves is
// a legal one.
func (w *world) reconcile(s *v1alpha1.McpServer) ctrl.Result {
	w.t.Helper()
	res, err := w.try(s)
	w.must(err)
	return res
}

func (w *world) try(s *v1alpha1.McpServer) (ctrl.Result, error) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 30*time.Second)
	defer cancel()
	res, err := w.r.Reconcile(ctx, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(s)})
	now := &v1alpha1.McpServer{}
	if getErr := w.c.Get(ctx, client.ObjectKeyFromObject(s), now); getErr == nil && now.DeletionTimestamp == nil {
		for _, problem := range testkit.LegalStatus(now) {
			w.t.Error(problem)
		}
	}
	return res, err
}

func (w *world) get(obj client.Object, name string) bool {
	w.t.Helper()
	err := w.c.Get(w.t.Context(), client.ObjectKey{Namespace: w.ns, Name: name}, obj)
	if client.IgnoreNotFound(err) != nil {
		w.t.Fatal(err)
	}
	return err == nil
}

func (w *world) fresh(s *v1alpha1.McpServer) *v1alpha1.McpServer {
	w.t.Helper()
	out := &v1alpha1.McpServer{}
	w.must(w.c.Get(w.t.Context(), client.ObjectKeyFromObject(s), out))
	return out
}

func (w *world) edit(s *v1alpha1.McpServer, change func(*v1alpha1.McpServer)) {
	w.t.Helper()
	now := w.fresh(s)
	change(now)
	w.must(w.c.Update(w.t.Context(), now))
}

func (w *world) deployment(s *v1alpha1.McpServer) *appsv1.Deployment {
	w.t.Helper()
	d := &appsv1.Deployment{}
	if !w.get(d, s.Name) {
		w.t.Fatal("no Deployment")
	}
	return d
}

// condition returns "Status/Reason".
func (w *world) condition(s *v1alpha1.McpServer, typ string) string {
	w.t.Helper()
	c := conditions.Find(w.fresh(s).Status.Conditions, typ)
	if c == nil {
		return ""
	}
	return string(c.Status) + "/" + c.Reason
}

func (w *world) want(s *v1alpha1.McpServer, typ, statusReason string) {
	w.t.Helper()
	if got := w.condition(s, typ); got != statusReason {
		w.t.Errorf("%s is %s, want %s", typ, got, statusReason)
	}
}

func (w *world) pass(d time.Duration) { w.clock.SetTime(w.clock.Now().Add(d)) }

// deployed plays the Deployment controller: it has seen the object, and its
// Progressing condition has the reason.
func (w *world) deployed(s *v1alpha1.McpServer, reason string, more ...appsv1.DeploymentCondition) {
	w.t.Helper()
	d := w.deployment(s)
	status := corev1.ConditionTrue
	if reason == "ProgressDeadlineExceeded" {
		status = corev1.ConditionFalse
	}
	d.Status = appsv1.DeploymentStatus{
		ObservedGeneration: d.Generation, Replicas: *d.Spec.Replicas,
		Conditions: append(more, appsv1.DeploymentCondition{Type: appsv1.DeploymentProgressing, Status: status, Reason: reason}),
	}
	w.must(w.c.Status().Update(w.t.Context(), d))
}

var nextIP struct {
	sync.Mutex
	n int
}

// pod plays ReplicaSet controller and scheduler: one pod of the Deployment's
// template, running, not ready.
func (w *world) pod(s *v1alpha1.McpServer, name string) *corev1.Pod {
	w.t.Helper()
	d := w.deployment(s)
	hash := "h" + strings.ToLower(strings.TrimPrefix(d.Spec.Template.Labels[v1alpha1.LabelTemplate], "1-"))
	pod := &corev1.Pod{ObjectMeta: *d.Spec.Template.ObjectMeta.DeepCopy(), Spec: *d.Spec.Template.Spec.DeepCopy()}
	pod.Namespace, pod.Name = w.ns, name
	pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey] = hash
	pod.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: "apps/v1", Kind: "ReplicaSet", Name: d.Name + "-" + hash, UID: types.UID("rs-" + hash), Controller: ptr.To(true),
	}}
	pod.Spec.NodeName = "node"
	w.must(w.c.Create(w.t.Context(), pod))
	nextIP.Lock()
	nextIP.n++
	ip := fmt.Sprintf("10.1.%d.%d", nextIP.n/250, nextIP.n%250+1)
	nextIP.Unlock()
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, PodIP: ip, PodIPs: []corev1.PodIP{{IP: ip}}}
	w.must(w.c.Status().Update(w.t.Context(), pod))
	return pod
}

// ready plays the kubelet after the sidecar's handshake.
func (w *world) ready(pod *corev1.Pod, ready bool) {
	w.t.Helper()
	w.setPod(pod, func(st *corev1.PodStatus) {
		status := corev1.ConditionFalse
		if ready {
			status = corev1.ConditionTrue
		}
		st.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: status}}
		st.ContainerStatuses = []corev1.ContainerStatus{{Name: "workload", Ready: ready, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
	})
}

func (w *world) setPod(pod *corev1.Pod, change func(*corev1.PodStatus)) {
	w.t.Helper()
	now := &corev1.Pod{}
	w.must(w.c.Get(w.t.Context(), client.ObjectKeyFromObject(pod), now))
	change(&now.Status)
	w.must(w.c.Status().Update(w.t.Context(), now))
}

// digest is the live contract that the ConfigMap holds now.
func (w *world) digest(s *v1alpha1.McpServer) string {
	w.t.Helper()
	cm := &corev1.ConfigMap{}
	if !w.get(cm, desired.NamesOf(s).ConfigMap) {
		w.t.Fatal("no live contract")
	}
	_, digest, err := config.DecodeLive(cm.BinaryData[config.LiveKey(config.LiveVersion)])
	w.must(err)
	return digest
}

// serving brings a server to the point where n pods serve.
func (w *world) serving(s *v1alpha1.McpServer, n int) []*corev1.Pod {
	w.t.Helper()
	w.reconcile(s)
	var pods []*corev1.Pod
	for i := range n {
		p := w.pod(s, fmt.Sprintf("%s-%d", s.Name, i))
		w.ready(p, true)
		w.sidecars.set(p, func(st *config.Status) { st.LiveDigest = w.digest(s) })
		pods = append(pods, p)
	}
	w.deployed(s, "NewReplicaSetAvailable")
	w.reconcile(s)
	return pods
}

// writes counts what the operator sends to change something: a write that
// changes nothing moves no resourceVersion, but it is a write (O19).
type writes struct {
	mu  sync.Mutex
	all []string
}

func (q *writes) transport(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.Method != http.MethodGet {
			q.mu.Lock()
			q.all = append(q.all, r.Method+" "+r.URL.Path)
			q.mu.Unlock()
		}
		return next.RoundTrip(r)
	})
}

// take returns the writes since the last call.
func (q *writes) take() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := q.all
	q.all = nil
	return out
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// sidecars answers for /status.
type sidecars struct {
	mu   sync.Mutex
	byIP map[string]config.Status
}

func (s *sidecars) set(pod *corev1.Pod, change func(*config.Status)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.byIP[pod.Status.PodIP]
	st.PodUID = string(pod.UID)
	if st.Workload.State == "" {
		st.Workload = config.WorkloadStatus{State: config.WorkloadUp, Name: "demo", Version: "1.0", Revision: "2025-11-25"}
		st.Ready = true
	}
	change(&st)
	s.byIP[pod.Status.PodIP] = st
}

func (s *sidecars) silence(pod *corev1.Pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byIP, pod.Status.PodIP)
}

func (s *sidecars) Get(_ context.Context, ip string) (config.Status, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st, ok := s.byIP[ip]
	if !ok {
		return config.Status{}, errors.New("nobody answers")
	}
	return st, nil
}

type recorder struct {
	mu    sync.Mutex
	lines []string
}

func (r *recorder) Eventf(_, _ runtime.Object, typ, reason, _, note string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, typ+" "+reason+": "+fmt.Sprintf(note, args...))
}

// take returns what was told since the last call, as "Type Reason" words.
func (r *recorder) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, l := range r.lines {
		head, _, _ := strings.Cut(l, ":")
		out = append(out, head)
	}
	r.lines = nil
	return out
}
