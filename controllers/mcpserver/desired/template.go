package desired

import (
	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
)

// Template is a pod template with what identifies it.
type Template struct {
	// Hash is over what the user wrote; the pods carry it as LabelTemplate.
	Hash string
	// Fields holds a digest per field, see FirstDifference.
	Fields string
	// Build is over the whole template, so it also changes with the operator.
	Build string
	// Pod is the template itself.
	Pod *corev1ac.PodTemplateSpecApplyConfiguration
}

// MakeTemplate builds the pods of a server.
func MakeTemplate(in Input) (Template, error) {
	hash, fields, err := hashTemplate(in.Server)
	if err != nil {
		return Template{}, err
	}
	spec, err := podSpec(in)
	if err != nil {
		return Template{}, err
	}
	pod := corev1ac.PodTemplateSpec().
		WithLabels(podLabels(in.Server, hash)).
		WithAnnotations(in.Server.Spec.Pod.Annotations).
		WithSpec(spec)
	build, err := buildHash(pod)
	if err != nil {
		return Template{}, err
	}
	return Template{Hash: hash, Fields: fields, Build: build, Pod: pod}, nil
}

func podSpec(in Input) (*corev1ac.PodSpecApplyConfiguration, error) {
	s := in.Server
	sidecar, err := sidecarContainer(in)
	if err != nil {
		return nil, err
	}
	workload, err := workloadContainer(s)
	if err != nil {
		return nil, err
	}
	vols, err := volumes(s)
	if err != nil {
		return nil, err
	}
	spec := corev1ac.PodSpec().
		// The order matters: the kubelet starts them one after the other (O2).
		WithInitContainers(installContainer(in.DataPlane), sidecar).
		WithContainers(workload).
		WithVolumes(vols...).
		WithSecurityContext(podSecurity()).
		WithServiceAccountName(serviceAccountName(s)).
		WithAutomountServiceAccountToken(false).
		// A Service called "mcp" would put MCP_PORT=tcp://… into the workload (C37).
		WithEnableServiceLinks(false).
		WithTerminationGracePeriodSeconds(int64(clocks(s).Grace()))
	if err := placement(spec, s); err != nil {
		return nil, err
	}
	return spec, nil
}

func serviceAccountName(s *v1alpha1.McpServer) string {
	if n := s.Spec.Pod.ServiceAccountName; n != "" {
		return string(n)
	}
	return NamesOf(s).ServiceAccount
}

// placement adds the user's part of the pod (O21).
func placement(spec *corev1ac.PodSpecApplyConfiguration, s *v1alpha1.McpServer) error {
	p := &s.Spec.Pod
	spec.WithNodeSelector(p.NodeSelector)
	if p.PriorityClassName != "" {
		spec.WithPriorityClassName(string(p.PriorityClassName))
	}
	if p.RuntimeClassName != "" {
		spec.WithRuntimeClassName(string(p.RuntimeClassName))
	}
	tolerations, err := convertAll[corev1ac.TolerationApplyConfiguration](p.Tolerations)
	if err != nil {
		return err
	}
	spec.WithTolerations(tolerations...)
	if p.Affinity != nil {
		if spec.Affinity, err = convert[corev1ac.AffinityApplyConfiguration](p.Affinity); err != nil {
			return err
		}
	}
	if p.DNSConfig != nil {
		if spec.DNSConfig, err = convert[corev1ac.PodDNSConfigApplyConfiguration](p.DNSConfig); err != nil {
			return err
		}
	}
	aliases, err := convertAll[corev1ac.HostAliasApplyConfiguration](p.HostAliases)
	if err != nil {
		return err
	}
	spec.WithHostAliases(aliases...)
	secrets, err := convertAll[corev1ac.LocalObjectReferenceApplyConfiguration](p.ImagePullSecrets)
	if err != nil {
		return err
	}
	spec.WithImagePullSecrets(secrets...)
	spread, err := convertAll[corev1ac.TopologySpreadConstraintApplyConfiguration](p.TopologySpreadConstraints)
	if err != nil {
		return err
	}
	if len(spread) == 0 {
		spread = defaultSpread(s)
	}
	spec.WithTopologySpreadConstraints(spread...)
	return nil
}

// defaultSpread prefers different zones and nodes and never keeps a pod from
// being scheduled.
func defaultSpread(s *v1alpha1.McpServer) []*corev1ac.TopologySpreadConstraintApplyConfiguration {
	var out []*corev1ac.TopologySpreadConstraintApplyConfiguration
	for _, key := range []string{corev1.LabelTopologyZone, corev1.LabelHostname} {
		out = append(out, corev1ac.TopologySpreadConstraint().
			WithMaxSkew(1).
			WithTopologyKey(key).
			WithWhenUnsatisfiable(corev1.ScheduleAnyway).
			WithLabelSelector(metav1ac.LabelSelector().WithMatchLabels(Selector(s))))
	}
	return out
}
