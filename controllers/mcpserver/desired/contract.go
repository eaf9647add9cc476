package desired

import (
	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/fairlead-dev/fairlead/sidecar/config"
)

// LiveConfigMap holds the live contract, one key per contract version (O1). It
// also returns the digest that sidecars report once they run with it.
func LiveConfigMap(in Input) (*corev1ac.ConfigMapApplyConfiguration, string, error) {
	s := in.Server
	data, digest, err := config.EncodeLive(Live(s))
	if err != nil {
		return nil, "", err
	}
	return corev1ac.ConfigMap(NamesOf(s).ConfigMap, s.Namespace).
		WithLabels(Labels(s)).
		WithOwnerReferences(in.owner().Reference()).
		WithBinaryData(map[string][]byte{config.LiveKey(config.LiveVersion): data}), digest, nil
}

// KeySecret holds the keys that seal handles (D9).
func KeySecret(in Input) *corev1ac.SecretApplyConfiguration {
	s := in.Server
	return corev1ac.Secret(NamesOf(s).Secret, s.Namespace).
		WithLabels(Labels(s)).
		WithOwnerReferences(in.owner().Reference()).
		WithType(corev1.SecretTypeOpaque).
		WithData(in.Keys)
}
