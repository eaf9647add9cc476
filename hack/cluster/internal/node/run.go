package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"

	"github.com/fairlead-dev/fairlead/hack/cluster/internal/instance"
	"github.com/fairlead-dev/fairlead/hack/cluster/internal/nodeconf"
	"github.com/fairlead-dev/fairlead/hack/cluster/internal/supervisor"
)

// Registry is the name of the loopback registry among the components.
const Registry = "registry"

// Run supervises all components until ctx is done. registry is the command line
// that serves the loopback registry.
func Run(ctx context.Context, i instance.Instance, c nodeconf.Config, registry []string) error {
	api, err := newAPIClient(i)
	if err != nil {
		return err
	}
	s, err := supervisor.New(i.LogDir(), environment(c), units(c, api, registry))
	if err != nil {
		return err
	}
	ln, err := net.Listen("unix", instance.ControlSocket)
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: s.Handler()}
	go func() {
		if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			fmt.Fprintln(os.Stderr, "control socket:", err)
		}
	}()
	defer srv.Close()
	s.Run(ctx)
	return ctx.Err()
}

// environment is all that components see: no proxy settings of the caller, which
// would send cluster traffic to an address that does not exist here.
func environment(c nodeconf.Config) []string {
	return []string{
		"PATH=" + c.Tools + ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME=/root", "LANG=C.UTF-8", "CONTAINERD_ADDRESS=" + c.ContainerdSocket,
	}
}

func units(c nodeconf.Config, api *apiClient, registry []string) []supervisor.Unit {
	unit := func(name string, ready func(context.Context) error, needs ...string) supervisor.Unit {
		return supervisor.Unit{Name: name, Argv: c.Argv(name), Ready: ready, Needs: needs}
	}
	return []supervisor.Unit{
		unit(nodeconf.Etcd, plain("http://127.0.0.1:2379/health")),
		unit(nodeconf.Containerd, containerdAnswers(c)),
		{Name: Registry, Argv: registry, Ready: plain("http://127.0.0.1:5000/v2/")},
		unit(nodeconf.APIServer, api.get("/readyz"), nodeconf.Etcd),
		// Pods are refused until the namespace has its service account.
		unit(nodeconf.ControllerManager, api.get("/api/v1/namespaces/default/serviceaccounts/default"), nodeconf.APIServer),
		unit(nodeconf.Scheduler, plain("https://127.0.0.1:10259/readyz"), nodeconf.APIServer),
		// The kubelet's retries get slow when it starts before the API server.
		unit(nodeconf.Kubelet, api.nodeReady(c.NodeName), nodeconf.APIServer, nodeconf.Containerd),
		unit(nodeconf.KubeProxy, plain("http://127.0.0.1:10256/healthz"), nodeconf.APIServer),
	}
}
