//go:build e2e

package e2e

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/test/e2e/internal/audit"
	"github.com/fairlead-dev/fairlead/test/e2e/internal/world"
)

// right is one verb on one resource.
type right struct{ group, resource, verb string }

// TestLastRightsGrantedAreRightsUsed compares what the operator was granted
// with what the audit log says it did while all other tests ran; it must run
// after them (O15, O16).
func TestLastRightsGrantedAreRightsUsed(t *testing.T) {
	w, err := open()
	if err != nil {
		t.Fatal(err)
	}
	events, err := audit.Open(t).Since(time.Time{}, managerUser)
	if err != nil {
		t.Fatal(err)
	}
	used := map[right]bool{}
	for _, e := range events {
		if e.ObjectRef == nil {
			continue
		}
		resource := e.ObjectRef.Resource
		if e.ObjectRef.Subresource != "" {
			resource += "/" + e.ObjectRef.Subresource
		}
		for _, verb := range needed(e) {
			used[right{e.ObjectRef.APIGroup, resource, verb}] = true
		}
		if e.Refused() {
			t.Errorf("used but not granted: %s", e)
		}
	}
	granted := grantedTo(t, w)
	if len(granted) < 10 || len(used) < 10 {
		t.Fatalf("%d rights granted, %d used: this compares the wrong things", len(granted), len(used))
	}
	for g := range granted {
		if why := unseen()[g]; !used[g] && why == "" {
			t.Errorf("granted but never used: %s %s.%s", g.verb, g.resource, g.group)
		}
	}
	t.Logf("%d rights granted, %d used, %d requests", len(granted), len(used), len(events))
}

// needed are the verbs that a request needs besides being one of its own verb.
func needed(e audit.Event) []string {
	switch {
	case e.Verb == "patch" && e.ResponseStatus.Code == http.StatusCreated:
		return []string{"patch", "create"} // server-side apply that made the object
	case e.Verb == "watch" && strings.Contains(e.RequestURI, "sendInitialEvents=true"):
		return []string{"watch", "list"} // the same reflector lists where the server cannot stream
	}
	return []string{e.Verb}
}

// unseen are rights that no request shows, with what they are for.
func unseen() map[right]string {
	return map[right]string{
		{v1alpha1.Group, "mcpservers/finalizers", "update"}: "owner references that block deletion, where that admission plugin runs",
		{"events.k8s.io", "events", "patch"}:                "an event that repeats within minutes",
	}
}

// grantedTo resolves every binding of the manager's ServiceAccount.
func grantedTo(t *testing.T, w *world.World) map[right]bool {
	t.Helper()
	var cluster rbacv1.ClusterRoleBindingList
	var local rbacv1.RoleBindingList
	for _, l := range []client.ObjectList{&cluster, &local} {
		if err := w.List(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	out := map[right]bool{}
	ours := func(s rbacv1.Subject) bool {
		return s.Kind == "ServiceAccount" && s.Name == world.OperatorName && s.Namespace == world.OperatorNamespace
	}
	for _, b := range cluster.Items {
		if slices.ContainsFunc(b.Subjects, ours) {
			var role rbacv1.ClusterRole
			if err := w.Get(t.Context(), client.ObjectKey{Name: b.RoleRef.Name}, &role); err != nil {
				t.Fatal(err)
			}
			add(t, out, role.Rules)
		}
	}
	for _, b := range local.Items {
		if slices.ContainsFunc(b.Subjects, ours) {
			var role rbacv1.Role
			if err := w.Get(t.Context(), client.ObjectKey{Namespace: b.Namespace, Name: b.RoleRef.Name}, &role); err != nil {
				t.Fatal(err)
			}
			add(t, out, role.Rules)
		}
	}
	return out
}

func add(t *testing.T, out map[right]bool, rules []rbacv1.PolicyRule) {
	t.Helper()
	for _, r := range rules {
		for _, g := range r.APIGroups {
			for _, res := range r.Resources {
				for _, v := range r.Verbs {
					if strings.Contains(g+res+v, "*") {
						t.Errorf("a wildcard is granted: %v", r)
					}
					out[right{g, res, v}] = true
				}
			}
		}
	}
}
