package integration

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairlead-dev/fairlead/controllers/app"
	"github.com/fairlead-dev/fairlead/controllers/operatorconfig"
	"github.com/fairlead-dev/fairlead/test/testkit"
)

var plane testkit.ControlPlane

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(plane.Run(m))
}

const (
	operatorNamespace = "fairlead-system"
	operatorUser      = "system:serviceaccount:" + operatorNamespace + ":fairlead-manager"
)

func scheme(t testing.TB) *runtime.Scheme {
	t.Helper()
	s, err := app.NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	if err := rbacv1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	return s
}

// admin is the client that plays everybody but the operator.
func admin(t testing.TB) client.Client {
	t.Helper()
	cfg := plane.Config(t)
	cfg.QPS = -1
	c, err := client.New(cfg, client.Options{Scheme: scheme(t)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// install applies config/rbac, so that the API server decides what the manager
// may do.
func install(t testing.TB, c client.Client) {
	t.Helper()
	create := func(obj client.Object) {
		if err := c.Create(t.Context(), obj); err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
	}
	create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: operatorNamespace}})
	decoder := serializer.NewCodecFactory(scheme(t)).UniversalDeserializer()
	for _, name := range []string{"role.yaml", "role_binding.yaml", "leader_election.yaml"} {
		file, err := os.Open(filepath.Join(testkit.Root(t), "config", "rbac", name))
		if err != nil {
			t.Fatal(err)
		}
		docs := yaml.NewDocumentDecoder(file)
		buf := make([]byte, 1<<20)
		for {
			n, err := docs.Read(buf)
			if err != nil {
				break
			}
			obj, _, err := decoder.Decode(buf[:n], nil, nil)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			o, ok := obj.(client.Object)
			if !ok {
				t.Fatalf("%s: %T", name, obj)
			}
			if o.GetObjectKind().GroupVersionKind().Kind == "Role" || o.GetObjectKind().GroupVersionKind().Kind == "RoleBinding" {
				o.SetNamespace(operatorNamespace) // as config/default does
			}
			create(o)
		}
		_ = file.Close()
	}
}

// operator is one running manager.
type operator struct {
	used   *requests
	stop   func()
	leads  <-chan struct{}
	ended  chan error
	config *rest.Config
}

type operatorOptions struct {
	namespaces []string
	elect      bool
	statuses   *kubelet
}

// start runs a manager as the operator's ServiceAccount until the test ends or
// stop is called.
func start(t testing.TB, o operatorOptions) *operator {
	t.Helper()
	access := plane.Config(t)
	access.Impersonate = rest.ImpersonationConfig{
		UserName: operatorUser, Groups: []string{"system:serviceaccounts", "system:authenticated"},
	}
	used := &requests{}
	access.Wrap(used.transport)
	cfg, err := operatorconfig.Load(fmt.Appendf(nil, `
apiVersion: %s
kind: %s
dataPlane: {image: "registry.example/sidecar:1"}
operator: {namespace: %s}
leaderElection: {enabled: %v, leaseSeconds: 3, renewSeconds: 2, retrySeconds: 1}
metrics: {bindAddress: "0"}
health: {bindAddress: "0"}
`, operatorconfig.APIVersion, operatorconfig.Kind, operatorNamespace, o.elect), operatorconfig.Surroundings{})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Watch.Namespaces = o.namespaces
	mgr, err := app.NewManager(access, app.Options{
		Config: cfg, Logger: logr.Discard(), Registerer: prometheus.NewRegistry(),
		Statuses: o.statuses, SkipNameValidation: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	op := &operator{used: used, leads: mgr.Elected(), ended: make(chan error, 1), config: access}
	go func() { op.ended <- mgr.Start(ctx) }()
	stopped := false
	op.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		select {
		case err := <-op.ended:
			if err != nil {
				t.Errorf("the manager ended with %v", err)
			}
		case <-time.After(30 * time.Second):
			t.Error("the manager does not end")
		}
	}
	t.Cleanup(op.stop)
	return op
}

// eventually waits for check, which says what is missing, "" for nothing.
func eventually(t testing.TB, check func() string) {
	t.Helper()
	deadline := time.Now().Add(60 * time.Second)
	for {
		missing := check()
		if missing == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("given up: %s", missing)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
