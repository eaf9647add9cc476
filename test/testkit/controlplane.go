package testkit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"k8s.io/apimachinery/pkg/runtime"
)

// AssetsEnv names the folder that holds etcd, kube-apiserver and kubectl.
const AssetsEnv = "KUBEBUILDER_ASSETS"

// assetsHelp is what a person without the binaries must do.
const assetsHelp = "build them once with `make envtest-assets`, then run the tests with `make test-envtest`, " +
	"or with " + AssetsEnv + "=$(make -s envtest-assets)"

// ControlPlane is an etcd and a kube-apiserver that the first test that needs
// them starts, with the project's CRDs installed. The zero value is ready; set
// the fields before that. A package has one, in a variable that TestMain runs:
//
//	var plane testkit.ControlPlane
//
//	func TestMain(m *testing.M) { os.Exit(plane.Run(m)) }
//
// All methods may be called concurrently.
type ControlPlane struct {
	// APIServerArgs are added to the API server's flags.
	APIServerArgs map[string][]string
	// WithoutCRDs leaves the project's CRDs out.
	WithoutCRDs bool

	once   sync.Once
	env    *envtest.Environment
	config *rest.Config
	err    error
}

// Run runs the tests, then stops the control plane if one of them started it.
// It returns the exit code.
func (p *ControlPlane) Run(m *testing.M) int {
	code := m.Run()
	p.once.Do(func() { p.err = errors.New("testkit: the tests are over") })
	if p.env == nil {
		return code
	}
	if err := p.env.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "testkit: stop the control plane:", err)
		if code == 0 {
			code = 1
		}
	}
	return code
}

// Config returns an administrator's access, made for this test to change. It
// starts the control plane if need be. In -short mode the test is skipped;
// without the binaries it fails and says how to get them.
func (p *ControlPlane) Config(t testing.TB) *rest.Config {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a control plane; -short")
	}
	p.once.Do(func() { p.start(Root(t)) })
	if p.err != nil {
		t.Fatal(p.err)
	}
	return rest.CopyConfig(p.config)
}

// Kubeconfig returns the path of a file with the same access, for kubectl.
func (p *ControlPlane) Kubeconfig(t testing.TB) string {
	t.Helper()
	p.Config(t)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, p.env.KubeConfig, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Binary returns the path of one of the binaries in AssetsEnv, such as
// kubectl. The test fails if it is not there.
func Binary(t testing.TB, name string) string {
	t.Helper()
	path, err := binary(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func binary(name string) (string, error) {
	dir := os.Getenv(AssetsEnv)
	if dir == "" {
		return "", fmt.Errorf("testkit: %s is not set, so there is no %s: %s", AssetsEnv, name, assetsHelp)
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("testkit: %w: %s", err, assetsHelp)
	}
	return path, nil
}

func (p *ControlPlane) start(root string) {
	for _, name := range []string{"etcd", "kube-apiserver"} {
		if _, err := binary(name); err != nil {
			p.err = err
			return
		}
	}
	// The scheme is this environment's own: envtest adds to what it is given.
	s := runtime.NewScheme()
	if err := errors.Join(scheme.AddToScheme(s), apiextensionsv1.AddToScheme(s)); err != nil {
		p.err = fmt.Errorf("testkit: %w", err)
		return
	}
	env := &envtest.Environment{
		Scheme: s,
		// A busy machine takes its time; nothing is asserted about it.
		ControlPlaneStartTimeout: 3 * time.Minute,
		ControlPlaneStopTimeout:  time.Minute,
		BinaryAssetsDirectory:    os.Getenv(AssetsEnv),
	}
	if !p.WithoutCRDs {
		env.CRDDirectoryPaths = []string{filepath.Join(root, "config", "crd", "bases")}
		env.ErrorIfCRDPathMissing = true
		env.CRDInstallOptions.MaxTime = time.Minute
	}
	for flag, values := range p.APIServerArgs {
		env.ControlPlane.GetAPIServer().Configure().Set(flag, values...)
	}
	config, err := env.Start()
	if err != nil {
		// What has started is stopped, so that a failed start leaves nothing.
		p.err = fmt.Errorf("testkit: start the control plane: %w", errors.Join(err, env.Stop()))
		return
	}
	p.env, p.config = env, config
}
