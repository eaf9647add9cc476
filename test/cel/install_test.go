package cel

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	psaapi "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/test/testkit"
)

const (
	operatorNamespace = "fairlead-system"
	operatorName      = "fairlead-manager"
)

// The installation is one command without flags, and can be repeated.
func TestInstallationIsAppliedTwice(t *testing.T) {
	dir := filepath.Join(testkit.Root(t), "config/default")
	// kubectl says "configured" of some kinds whatever it does; the server
	// knows better.
	versions := func() string {
		kubectl(t, "apply", "-k", dir)
		return kubectl(t, "get", "-k", dir, "-o",
			`jsonpath={range .items[*]}{.kind}/{.metadata.name} {.metadata.resourceVersion}{"\n"}{end}`)
	}
	first := versions()
	if diff := cmp.Diff(first, versions()); diff != "" {
		t.Errorf("the second apply changes something:\n%s", diff)
	}
}

func TestManagerPodsPassPodSecurityRestricted(t *testing.T) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	restricted := psaapi.LevelVersion{Level: psaapi.LevelRestricted, Version: psaapi.LatestVersion()}
	pod := manager(t).Spec.Template
	for _, result := range evaluator.EvaluatePod(restricted, &pod.ObjectMeta, &pod.Spec) {
		if !result.Allowed {
			t.Errorf("%s: %s", result.ForbiddenReason, result.ForbiddenDetail)
		}
	}
}

// Two managers, and everything that refers to them finds them.
func TestManagerPartsFitTogether(t *testing.T) {
	deployment := manager(t)
	if n := deployment.Spec.Replicas; n == nil || *n != 2 {
		t.Errorf("%v replicas, want 2: one leads, one waits", deref(n))
	}
	objects := rendered(t)
	labels := deployment.Spec.Template.Labels
	for kind, selector := range map[string][]string{
		"Deployment":          {"spec", "selector", "matchLabels"},
		"PodDisruptionBudget": {"spec", "selector", "matchLabels"},
		"NetworkPolicy":       {"spec", "podSelector", "matchLabels"},
	} {
		o := find(t, objects, kind, operatorName)
		for key, value := range nested(t, o, selector...) {
			if labels[key] != value {
				t.Errorf("%s selects %s=%v, the pods have %q", kind, key, value, labels[key])
			}
		}
	}
	find(t, objects, "ServiceAccount", deployment.Spec.Template.Spec.ServiceAccountName)
	for _, o := range objects {
		if o["kind"] != "ClusterRoleBinding" && o["kind"] != "RoleBinding" {
			continue
		}
		var binding rbacv1.ClusterRoleBinding // a RoleBinding reads the same
		into(t, o, &binding)
		find(t, objects, binding.RoleRef.Kind, binding.RoleRef.Name)
		want := rbacv1.Subject{Kind: "ServiceAccount", Name: operatorName, Namespace: operatorNamespace}
		if len(binding.Subjects) != 1 || binding.Subjects[0] != want {
			t.Errorf("%s %s binds %+v, want %+v", o["kind"], binding.Name, binding.Subjects, want)
		}
	}
}

// I5: no wildcard, nothing that gives more rights than it has, and Secrets
// cannot be listed (O16).
func TestManagerHasNoSweepingRights(t *testing.T) {
	for _, o := range rendered(t) {
		if o["kind"] != "ClusterRole" && o["kind"] != "Role" {
			continue
		}
		var role rbacv1.ClusterRole
		into(t, o, &role)
		for _, rule := range role.Rules {
			for _, s := range slices.Concat(rule.Verbs, rule.Resources, rule.APIGroups) {
				switch s {
				case "*", "escalate", "bind", "impersonate", "nodes", "pods/exec", "serviceaccounts/token":
					t.Errorf("%s %s grants %q", o["kind"], role.Name, s)
				}
			}
			if slices.Contains(rule.Resources, "secrets") && (slices.Contains(rule.Verbs, "list") || slices.Contains(rule.Verbs, "watch")) {
				t.Errorf("%s %s may list or watch Secrets", o["kind"], role.Name)
			}
		}
	}
}

// Whoever has the role view or edit of a namespace has it for McpServers too,
// by the labels from which Kubernetes composes those roles.
func TestRolesOfUsersAreAggregated(t *testing.T) {
	for name, label := range map[string]string{
		"fairlead-mcpserver-viewer": "aggregate-to-view",
		"fairlead-mcpserver-editor": "aggregate-to-edit",
	} {
		var role rbacv1.ClusterRole
		into(t, find(t, rendered(t), "ClusterRole", name), &role)
		if role.Labels["rbac.authorization.k8s.io/"+label] != "true" {
			t.Errorf("%s lacks the label %s", name, label)
		}
		for _, rule := range role.Rules {
			if !slices.Equal(rule.APIGroups, []string{v1alpha1.Group}) {
				t.Errorf("%s grants rights in %v", name, rule.APIGroups)
			}
			for _, resource := range rule.Resources {
				if resource == "mcpservers/status" && slices.ContainsFunc(rule.Verbs, isWrite) {
					t.Errorf("%s may write the status", name)
				}
			}
		}
	}
}

// One release: the sidecar that the manager puts into pods has its own tag.
func TestSidecarIsOfTheManagersRelease(t *testing.T) {
	container := manager(t).Spec.Template.Spec.Containers[0]
	image, found := "", false
	for _, arg := range container.Args {
		if value, ok := strings.CutPrefix(arg, "--sidecar-image="); ok {
			image, found = value, true
		}
	}
	if !found {
		t.Fatalf("the manager is not told the sidecar's image: %q", container.Args)
	}
	want := strings.Replace(container.Image, "/manager:", "/sidecar:", 1)
	if image != want {
		t.Errorf("the sidecar is %s beside a manager of %s", image, container.Image)
	}
}

func isWrite(verb string) bool { return verb != "get" && verb != "list" && verb != "watch" }

func manager(t *testing.T) *appsv1.Deployment {
	t.Helper()
	deployment := &appsv1.Deployment{}
	into(t, find(t, rendered(t), "Deployment", operatorName), deployment)
	if deployment.Namespace != operatorNamespace {
		t.Errorf("the manager is in namespace %q", deployment.Namespace)
	}
	return deployment
}

// rendered is what kubectl makes of config/default.
func rendered(t *testing.T) []map[string]any {
	t.Helper()
	out := kubectl(t, "kustomize", filepath.Join(testkit.Root(t), "config/default"))
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader([]byte(out)), 4096)
	var objects []map[string]any
	for {
		var o map[string]any
		switch err := decoder.Decode(&o); {
		case errors.Is(err, io.EOF):
			return objects
		case err != nil:
			t.Fatal(err)
		}
		objects = append(objects, o)
	}
}

func find(t *testing.T, objects []map[string]any, kind, name string) map[string]any {
	t.Helper()
	for _, o := range objects {
		if meta, _ := o["metadata"].(map[string]any); o["kind"] == kind && meta["name"] == name {
			return o
		}
	}
	t.Fatalf("config/default has no %s %s", kind, name)
	return nil
}

func nested(t *testing.T, o map[string]any, path ...string) map[string]any {
	t.Helper()
	value, found, err := unstructured.NestedMap(o, path...)
	if !found || err != nil {
		t.Fatalf("%s has no %s: %v", o["kind"], strings.Join(path, "."), err)
	}
	return value
}

func into(t *testing.T, o map[string]any, typed any) {
	t.Helper()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(o, typed, true); err != nil {
		t.Fatalf("%s: %v", o["kind"], err)
	}
}
