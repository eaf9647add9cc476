package nodeconf

import "path/filepath"

// Names of the components, for `cluster hold` and in status.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Containerd        = "containerd"
	Kubelet           = "kubelet"
	KubeProxy         = "kube-proxy"
)

// Argv returns the command line of a component, or nil for an unknown one.
func (c Config) Argv(component string) []string {
	args := map[string]func() []string{
		Etcd: c.etcd, APIServer: c.apiServer, ControllerManager: c.controllerManager, Scheduler: c.scheduler,
		Containerd: func() []string { return []string{"--config=" + c.conf("containerd.toml")} },
		Kubelet: func() []string {
			return []string{
				"--config=" + c.conf("kubelet.yaml"), "--kubeconfig=" + c.pki("kubelet.kubeconfig"),
				"--hostname-override=" + c.NodeName, "--node-ip=" + c.NodeIP,
			}
		},
		KubeProxy: func() []string {
			return []string{"--config=" + c.conf("kube-proxy.yaml"), "--hostname-override=" + c.NodeName}
		},
	}[component]
	if args == nil {
		return nil
	}
	return append([]string{filepath.Join(c.Tools, component)}, args()...)
}

func (c Config) pki(name string) string  { return filepath.Join(c.PKI, name) }
func (c Config) conf(name string) string { return filepath.Join(c.ConfDir, name) }

// etcd without fsync: the cluster is thrown away, and disks are slow.
func (c Config) etcd() []string {
	return []string{
		"--data-dir=" + c.EtcdDir, "--unsafe-no-fsync", "--auto-compaction-retention=5m", "--log-level=warn",
		"--listen-client-urls=http://127.0.0.1:2379", "--advertise-client-urls=http://127.0.0.1:2379",
		"--listen-peer-urls=http://127.0.0.1:2380", "--initial-advertise-peer-urls=http://127.0.0.1:2380",
		"--initial-cluster=default=http://127.0.0.1:2380",
	}
}

func (c Config) apiServer() []string {
	return []string{
		"--etcd-servers=http://127.0.0.1:2379", "--bind-address=0.0.0.0", "--secure-port=6443",
		"--advertise-address=" + c.NodeIP, "--service-cluster-ip-range=" + c.ServiceCIDR,
		"--client-ca-file=" + c.pki("ca.crt"),
		"--tls-cert-file=" + c.pki("apiserver.crt"), "--tls-private-key-file=" + c.pki("apiserver.key"),
		"--kubelet-certificate-authority=" + c.pki("ca.crt"), "--kubelet-preferred-address-types=InternalIP",
		"--kubelet-client-certificate=" + c.pki("apiserver-kubelet-client.crt"), "--kubelet-client-key=" + c.pki("apiserver-kubelet-client.key"),
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + c.pki("sa.pub"), "--service-account-signing-key-file=" + c.pki("sa.key"),
		"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction", "--allow-privileged=true",
		"--requestheader-client-ca-file=" + c.pki("front-proxy-ca.crt"), "--requestheader-allowed-names=front-proxy-client",
		"--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + c.pki("front-proxy-client.crt"), "--proxy-client-key-file=" + c.pki("front-proxy-client.key"),
		"--enable-aggregator-routing=true",
		"--audit-policy-file=" + c.conf("audit-policy.yaml"), "--audit-log-path=" + c.AuditLog,
		// One file for a whole test run: a rotated log would hide what was counted.
		"--audit-log-maxsize=1024", "--audit-log-maxbackup=2",
	}
}

func (c Config) controllerManager() []string {
	k := c.pki("controller-manager.kubeconfig")
	return []string{
		"--kubeconfig=" + k, "--authentication-kubeconfig=" + k, "--authorization-kubeconfig=" + k,
		"--bind-address=127.0.0.1", "--leader-elect=false", "--use-service-account-credentials=true",
		"--root-ca-file=" + c.pki("ca.crt"), "--service-account-private-key-file=" + c.pki("sa.key"),
		"--cluster-signing-cert-file=" + c.pki("ca.crt"), "--cluster-signing-key-file=" + c.pki("ca.key"),
		"--requestheader-client-ca-file=" + c.pki("front-proxy-ca.crt"),
		// It makes some 40 service accounts at its start; at the default rate that takes 5 s.
		"--kube-api-qps=200", "--kube-api-burst=400",
		"--flex-volume-plugin-dir=/var/lib/kubelet/volumeplugins",
		"--horizontal-pod-autoscaler-sync-period=5s", "--horizontal-pod-autoscaler-initial-readiness-delay=5s",
		"--horizontal-pod-autoscaler-cpu-initialization-period=15s", "--node-monitor-grace-period=40s",
	}
}

func (c Config) scheduler() []string {
	k := c.pki("scheduler.kubeconfig")
	return []string{
		"--kubeconfig=" + k, "--authentication-kubeconfig=" + k, "--authorization-kubeconfig=" + k,
		"--bind-address=127.0.0.1", "--leader-elect=false",
	}
}
