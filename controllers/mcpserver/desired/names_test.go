package desired_test

import (
	"encoding/json"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/controllers/mcpserver/desired"
)

// C39, O23, R16: at the longest name every child is still a DNS label and two
// servers with a long common prefix share none.
func TestNamesAtTheLimit(t *testing.T) {
	long := strings.Repeat("a", v1alpha1.MaxNameLength-1)
	of := func(name, uid string) []string {
		n := desired.NamesOf(&v1alpha1.McpServer{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(uid)}})
		var m map[string]string
		data, _ := json.Marshal(n)
		if err := json.Unmarshal(data, &m); err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, v := range m {
			out = append(out, v)
		}
		return out
	}
	seen := map[string]string{}
	for _, s := range []string{long + "b", long + "c"} {
		for _, name := range of(s, "12345678-0000-4000-8000-000000000000") {
			if errs := validation.IsDNS1035Label(name); len(errs) > 0 {
				t.Errorf("%s: %v", name, errs)
			}
			if owner, taken := seen[name]; taken && owner != s {
				t.Errorf("%s belongs to two servers", name)
			}
			seen[name] = s
		}
	}
}

// O4: the next server of the same name does not meet the children of the last.
func TestNamesDifferByUID(t *testing.T) {
	of := func(uid types.UID) desired.Names {
		return desired.NamesOf(&v1alpha1.McpServer{ObjectMeta: metav1.ObjectMeta{Name: "demo", UID: uid}})
	}
	a, b := of("12345678-0000-4000-8000-000000000000"), of("abcdef01-0000-4000-8000-000000000000")
	if a.Deployment != "demo" || a.Service != "demo" {
		t.Errorf("Deployment %s, Service %s", a.Deployment, a.Service)
	}
	if a.ConfigMap != "demo-12345678-live" {
		t.Errorf("ConfigMap %s", a.ConfigMap)
	}
	if a.Secret == b.Secret || a.ConfigMap == b.ConfigMap || a.ServiceAccount == b.ServiceAccount || a.PDB == b.PDB || a.NetworkPolicy == b.NetworkPolicy {
		t.Errorf("%v and %v share a name", a, b)
	}
}
