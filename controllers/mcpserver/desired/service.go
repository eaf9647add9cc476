package desired

import (
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	policyv1ac "k8s.io/client-go/applyconfigurations/policy/v1"
)

// Service exposes the public port as 80 and 8080 (R14).
func Service(in Input) *corev1ac.ServiceApplyConfiguration {
	s := in.Server
	return corev1ac.Service(NamesOf(s).Service, s.Namespace).
		WithLabels(Labels(s)).
		WithOwnerReferences(in.owner().Reference()).
		WithSpec(corev1ac.ServiceSpec().
			WithSelector(Selector(s)).
			WithPorts(servicePort("http", 80), servicePort("http-alt", 8080)))
}

func servicePort(name string, number int32) *corev1ac.ServicePortApplyConfiguration {
	return corev1ac.ServicePort().
		WithName(name).
		WithPort(number).
		WithProtocol(corev1.ProtocolTCP).
		WithAppProtocol("http").
		WithTargetPort(intstr.FromString(PortNamePublic))
}

// PodDisruptionBudget lets one pod go at a time, and pods that are not ready
// whenever a node is drained: right for one replica as for ten (O25).
func PodDisruptionBudget(in Input) *policyv1ac.PodDisruptionBudgetApplyConfiguration {
	s := in.Server
	return policyv1ac.PodDisruptionBudget(NamesOf(s).PDB, s.Namespace).
		WithLabels(Labels(s)).
		WithOwnerReferences(in.owner().Reference()).
		WithSpec(policyv1ac.PodDisruptionBudgetSpec().
			WithMaxUnavailable(intstr.FromInt32(1)).
			WithUnhealthyPodEvictionPolicy(policyv1.AlwaysAllow).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(Selector(s))))
}

// ServiceAccount has no rights and no token, so nothing is lost when a
// workload is taken over (D14).
func ServiceAccount(in Input) *corev1ac.ServiceAccountApplyConfiguration {
	s := in.Server
	return corev1ac.ServiceAccount(NamesOf(s).ServiceAccount, s.Namespace).
		WithLabels(Labels(s)).
		WithOwnerReferences(in.owner().Reference()).
		WithAutomountServiceAccountToken(false)
}
