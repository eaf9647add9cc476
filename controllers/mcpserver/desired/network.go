package desired

import (
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	networkingv1ac "k8s.io/client-go/applyconfigurations/networking/v1"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/sidecar/config"
)

// WantsNetworkPolicy is false when the user writes the policy.
func WantsNetworkPolicy(s *v1alpha1.McpServer) bool {
	return s.Spec.Network.Policy != v1alpha1.NetworkPolicyUnmanaged
}

// NetworkPolicy opens the public port to clients, the metrics port to
// monitoring, the admin port to the operator, and nothing else: so the
// workload's own port, which would bypass the sidecar, is closed (O10, O13).
// Probes need no rule; a node always reaches its own pods.
func NetworkPolicy(in Input) (*networkingv1ac.NetworkPolicyApplyConfiguration, error) {
	s := in.Server
	n := &s.Spec.Network
	clients, err := peers(n.IngressFrom)
	if err != nil {
		return nil, err
	}
	if len(clients) == 0 {
		clients = []*networkingv1ac.NetworkPolicyPeerApplyConfiguration{anyPod()}
	}
	spec := networkingv1ac.NetworkPolicySpec().
		WithPodSelector(metav1ac.LabelSelector().WithMatchLabels(Selector(s))).
		WithPolicyTypes(networkingv1.PolicyTypeIngress).
		WithIngress(ingress(config.PortPublic, clients))
	monitoring, err := peers(n.MonitoringFrom)
	if err != nil {
		return nil, err
	}
	if in.Operator != nil {
		op := []*networkingv1ac.NetworkPolicyPeerApplyConfiguration{operatorPeer(in.Operator)}
		spec.WithIngress(ingress(config.PortAdmin, op))
		monitoring = append(op, monitoring...)
	}
	if len(monitoring) > 0 {
		// A rule without peers would admit everybody.
		spec.WithIngress(ingress(config.PortMetrics, monitoring))
	}
	if n.Egress == v1alpha1.EgressRestricted {
		spec.WithPolicyTypes(networkingv1.PolicyTypeEgress).WithEgress(dnsOnly(s))
	}
	return networkingv1ac.NetworkPolicy(NamesOf(s).NetworkPolicy, s.Namespace).
		WithLabels(Labels(s)).
		WithOwnerReferences(in.owner().Reference()).
		WithSpec(spec), nil
}

func ingress(port int32, from []*networkingv1ac.NetworkPolicyPeerApplyConfiguration) *networkingv1ac.NetworkPolicyIngressRuleApplyConfiguration {
	return networkingv1ac.NetworkPolicyIngressRule().
		WithPorts(policyPort(corev1.ProtocolTCP, port)).
		WithFrom(from...)
}

func policyPort(proto corev1.Protocol, port int32) *networkingv1ac.NetworkPolicyPortApplyConfiguration {
	return networkingv1ac.NetworkPolicyPort().WithProtocol(proto).WithPort(intstr.FromInt32(port))
}

// peers has the JSON of NetworkPolicyPeer in common with the core type.
func peers(user []v1alpha1.NetworkPeer) ([]*networkingv1ac.NetworkPolicyPeerApplyConfiguration, error) {
	return convertAll[networkingv1ac.NetworkPolicyPeerApplyConfiguration](user)
}

func anyPod() *networkingv1ac.NetworkPolicyPeerApplyConfiguration {
	return networkingv1ac.NetworkPolicyPeer().WithNamespaceSelector(metav1ac.LabelSelector())
}

func operatorPeer(o *Origin) *networkingv1ac.NetworkPolicyPeerApplyConfiguration {
	return networkingv1ac.NetworkPolicyPeer().
		WithNamespaceSelector(metav1ac.LabelSelector().WithMatchLabels(map[string]string{corev1.LabelMetadataName: o.Namespace})).
		WithPodSelector(metav1ac.LabelSelector().WithMatchLabels(o.PodLabels))
}

// nodeLocalDNS is where the node-local DNS cache listens by convention.
const nodeLocalDNS = "169.254.20.10/32"

// dnsOnly admits name lookups at pods of the cluster, at the node-local cache
// and at the servers that the user named, and nothing else.
func dnsOnly(s *v1alpha1.McpServer) *networkingv1ac.NetworkPolicyEgressRuleApplyConfiguration {
	to := []*networkingv1ac.NetworkPolicyPeerApplyConfiguration{anyPod(), addressPeer(nodeLocalDNS)}
	if d := s.Spec.Pod.DNSConfig; d != nil {
		for _, server := range d.Nameservers {
			if a, err := netip.ParseAddr(server); err == nil {
				to = append(to, addressPeer(netip.PrefixFrom(a, a.BitLen()).String()))
			}
		}
	}
	return networkingv1ac.NetworkPolicyEgressRule().
		WithPorts(policyPort(corev1.ProtocolUDP, 53), policyPort(corev1.ProtocolTCP, 53)).
		WithTo(to...)
}

func addressPeer(cidr string) *networkingv1ac.NetworkPolicyPeerApplyConfiguration {
	return networkingv1ac.NetworkPolicyPeer().WithIPBlock(networkingv1ac.IPBlock().WithCIDR(cidr))
}
