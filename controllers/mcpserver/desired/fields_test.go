package desired_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
)

// jsonFields lists the paths, below spec, of what is tied to the pod template.
func jsonFields(t *testing.T) []string {
	t.Helper()
	var out []string
	add := func(prefix string, typ reflect.Type) {
		for i := range typ.NumField() {
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			if prefix+name != "pod.sidecar" {
				out = append(out, prefix+name)
			}
		}
	}
	add("workload.", reflect.TypeFor[v1alpha1.Workload]())
	out = append(out, "protocol.clientRoots", "protocol.roots") // the rest is live
	add("rollout.", reflect.TypeFor[v1alpha1.Rollout]())
	add("pod.", reflect.TypeFor[v1alpha1.Pod]())
	add("pod.sidecar.", reflect.TypeFor[v1alpha1.Sidecar]())
	if len(out) < 25 {
		t.Fatalf("only %d fields found: %v", len(out), out)
	}
	return out
}
