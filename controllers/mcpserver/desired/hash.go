package desired

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
)

// hashVersion is part of every template hash. It changes when the way of
// hashing does, which rolls every pod: so hardly ever.
const hashVersion = "1"

// field is one part of a spec that is tied to the pod template.
type field struct {
	name  string
	value any
}

// templateFields is what of a spec needs new pods when it changes, in the
// order in which differences are looked for. It holds what the user wrote,
// never a default or an image of the operator: those change with its version,
// and an upgrade of the operator must not roll a fleet (O22). replicas, limits,
// network and most of protocol are absent on purpose: they take effect in running pods.
func templateFields(s *v1alpha1.McpServer) []field {
	w, p := &s.Spec.Workload, &s.Spec.Pod
	return []field{
		{"workload.type", w.Type},
		{"workload.image", w.Image},
		{"workload.imagePullPolicy", w.ImagePullPolicy},
		{"workload.command", w.Command},
		{"workload.args", w.Args},
		{"workload.env", w.Env},
		{"workload.envFrom", w.EnvFrom},
		{"workload.volumes", w.Volumes},
		{"workload.volumeMounts", w.VolumeMounts},
		{"workload.resources", w.Resources},
		{"workload.securityContext", w.SecurityContext},
		{"workload.livenessProbe", w.LivenessProbe},
		{"workload.startupProbe", w.StartupProbe},
		{"workload.stdio", w.Stdio},
		{"workload.mcp", w.MCP},
		{"protocol.clientRoots", s.Spec.Protocol.ClientRoots},
		{"protocol.roots", s.Spec.Protocol.Roots},
		{"rollout.drainSeconds", s.Spec.Rollout.DrainSeconds},
		{"pod.labels", p.Labels},
		{"pod.annotations", p.Annotations},
		{"pod.nodeSelector", p.NodeSelector},
		{"pod.tolerations", p.Tolerations},
		{"pod.affinity", p.Affinity},
		{"pod.topologySpreadConstraints", p.TopologySpreadConstraints},
		{"pod.priorityClassName", p.PriorityClassName},
		{"pod.runtimeClassName", p.RuntimeClassName},
		{"pod.dnsConfig", p.DNSConfig},
		{"pod.hostAliases", p.HostAliases},
		{"pod.imagePullSecrets", p.ImagePullSecrets},
		{"pod.serviceAccountName", p.ServiceAccountName},
		{"pod.sidecar.resources", p.Sidecar.Resources},
		{"pod.sidecar.env", p.Sidecar.Env},
	}
}

// hashTemplate returns the hash of all fields, a legal label value, and the
// digest of each, for FirstDifference. An absent field, an empty list and an
// empty map are the same and leave no trace, so a field that is new in the API
// does not change the hash of a spec that does not use it.
func hashTemplate(s *v1alpha1.McpServer) (hash, fields string, err error) {
	all := sha256.New()
	var digests []string
	for _, f := range templateFields(s) {
		if empty(f.value) {
			continue
		}
		// encoding/json sorts the keys of maps, so this is canonical.
		data, err := json.Marshal(f.value)
		if err != nil {
			return "", "", fmt.Errorf("hashing %s: %w", f.name, err)
		}
		fmt.Fprintf(all, "%s=%d:%s\n", f.name, len(data), data)
		sum := sha256.Sum256(data)
		digests = append(digests, f.name+"="+hex.EncodeToString(sum[:4]))
	}
	return hashVersion + "-" + hex.EncodeToString(all.Sum(nil)[:8]), strings.Join(digests, ","), nil
}

func empty(v any) bool {
	r := reflect.ValueOf(v)
	if r.Kind() == reflect.Slice || r.Kind() == reflect.Map {
		return r.Len() == 0
	}
	return r.IsZero()
}

// FirstDifference names the first field, as spec.…, whose digest differs
// between two values of AnnotationFields; "" when none does.
func FirstDifference(before, after string) string {
	old, now := digests(before), digests(after)
	for _, f := range templateFields(&v1alpha1.McpServer{}) {
		if old[f.name] != now[f.name] {
			return "spec." + f.name
		}
	}
	return ""
}

func digests(annotation string) map[string]string {
	out := map[string]string{}
	for _, entry := range strings.Split(annotation, ",") {
		if name, digest, ok := strings.Cut(entry, "="); ok {
			out[name] = digest
		}
	}
	return out
}

// buildHash covers every byte of a template, ours and the user's.
func buildHash(template any) (string, error) {
	data, err := json.Marshal(template)
	if err != nil {
		return "", fmt.Errorf("hashing the pod template: %w", err)
	}
	sum := sha256.Sum256(data)
	return hashVersion + "-" + hex.EncodeToString(sum[:8]), nil
}
