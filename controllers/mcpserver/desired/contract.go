package desired

import (
	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/fairlead-dev/fairlead/sidecar/config"
)

// Digests are those of one live contract in each of its versions.
type Digests map[int]string

// Follows reports whether a sidecar says that it runs with the contract, in
// whichever version it reads.
func (d Digests) Follows(s *config.Status) bool {
	for _, digest := range d {
		if s != nil && s.LiveDigest == digest {
			return true
		}
	}
	return false
}

// Newest is the digest of the newest version, "" when there is none.
func (d Digests) Newest() string { return d[config.LiveVersion] }

// LiveConfigMap holds the live contract, one key per contract version, so that
// sidecars of an earlier release keep following it (O1). It also returns the
// digests that sidecars report once they run with it.
func LiveConfigMap(in Input) (*corev1ac.ConfigMapApplyConfiguration, Digests, error) {
	s := in.Server
	live := Live(s)
	data, digests := map[string][]byte{}, Digests{}
	for _, v := range config.ContractVersions() {
		gz, digest, err := config.EncodeLive(live.As(v))
		if err != nil {
			return nil, nil, err
		}
		data[config.LiveKey(v)], digests[v] = gz, digest
	}
	return corev1ac.ConfigMap(NamesOf(s).ConfigMap, s.Namespace).
		WithLabels(Labels(s)).
		WithOwnerReferences(in.owner().Reference()).
		WithBinaryData(data), digests, nil
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
