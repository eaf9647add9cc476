package cel

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	protocol "github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/sidecar/config"
	"github.com/fairlead-dev/fairlead/test/testkit"
)

// maxCRDBytes bounds the CRD as JSON: kubectl apply puts it into an annotation,
// which may have 262,144 bytes, and Helm into a release (O21).
const maxCRDBytes = 200 << 10

func TestCRDStaysSmallEnoughForPlainApply(t *testing.T) {
	data, err := json.Marshal(readCRD(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the CRD has %d bytes of JSON, %d are allowed", len(data), maxCRDBytes)
	if len(data) > maxCRDBytes {
		t.Errorf("the CRD has %d bytes of JSON, %d are allowed", len(data), maxCRDBytes)
	}
}

func TestEveryFieldHasADescription(t *testing.T) {
	walk(schema(t), "", func(path string, s apiextensionsv1.JSONSchemaProps) {
		// Items and values of maps have that of their list or map; the rest of
		// the exceptions are k8s.io/api's own.
		name := path[strings.LastIndex(path, ".")+1:]
		if s.Description == "" && !strings.HasSuffix(name, "[]") && !strings.HasSuffix(name, "{}") && !coreUndescribed(path) {
			t.Errorf("%s has no description, so kubectl explain says nothing", path)
		}
	})
}

// coreUndescribed are fields of embedded objects whose schema is not ours.
func coreUndescribed(path string) bool {
	return path == "" || path == ".metadata" || strings.HasSuffix(path, ".volumeClaimTemplate.metadata")
}

func TestBothProbesAreHeldToTheSameRules(t *testing.T) {
	workload := property(t, schema(t), "spec", "workload")
	liveness, startup := workload.Properties["livenessProbe"], workload.Properties["startupProbe"]
	if len(liveness.XValidations) == 0 {
		t.Error("livenessProbe has no rules")
	}
	if diff := cmp.Diff(liveness.XValidations, startup.XValidations); diff != "" {
		t.Errorf("rules of livenessProbe (-) and startupProbe (+) differ:\n%s", diff)
	}
}

// What the schema lets through, the sidecar must load: the operator renders
// these values into its files. R22, O1.
func TestBoundsFitTheSidecarsConfig(t *testing.T) {
	spec := property(t, schema(t), "spec")
	stdio := property(t, spec, "workload", "stdio")
	mcp := property(t, spec, "workload", "mcp")
	limits := property(t, spec, "limits")
	network := property(t, spec, "network")
	for name, c := range map[string]struct {
		schema             apiextensionsv1.JSONSchemaProps
		min, fallback, max float64
	}{
		"stdio.maxProcesses":        {property(t, stdio, "maxProcesses"), 1, config.DefaultMaxProcesses, config.MaxMaxProcesses},
		"stdio.startupSeconds":      {property(t, stdio, "startupSeconds"), 1, config.DefaultStartupSeconds, config.MaxStartupSeconds},
		"stdio.maxMessageBytes":     {property(t, stdio, "maxMessageBytes"), config.MinMaxMessageBytes, config.DefaultMaxMessageBytes, config.MaxMaxMessageBytes},
		"limits.requestSeconds":     {property(t, limits, "requestSeconds"), 1, config.DefaultRequestSeconds, config.MaxRequestSeconds},
		"limits.maxBodyBytes":       {property(t, limits, "maxBodyBytes"), config.MinMaxBodyBytes, config.DefaultMaxBodyBytes, config.MaxMaxBodyBytes},
		"limits.maxConcurrentCalls": {property(t, limits, "maxConcurrentCalls"), 1, config.DefaultMaxConcurrentCalls, config.MaxMaxConcurrentCalls},
		"limits.keepAliveSeconds":   {property(t, limits, "keepAliveSeconds"), 1, config.DefaultKeepAliveSeconds, config.MaxKeepAliveSeconds},
		"rollout.drainSeconds":      {property(t, spec, "rollout", "drainSeconds"), 0, config.DefaultDrainSeconds, config.MaxDrainSeconds},
	} {
		if c.schema.Minimum == nil || *c.schema.Minimum < c.min || *c.schema.Minimum > c.fallback {
			t.Errorf("%s: minimum %v; the sidecar takes %v and more, the default is %v", name, deref(c.schema.Minimum), c.min, c.fallback)
		}
		if c.schema.Maximum == nil || *c.schema.Maximum > c.max || *c.schema.Maximum < c.fallback {
			t.Errorf("%s: maximum %v; the sidecar takes up to %v, the default is %v", name, deref(c.schema.Maximum), c.max, c.fallback)
		}
	}
	path, origins := property(t, mcp, "path"), property(t, network, "allowedOrigins")
	if path.MaxLength == nil || *path.MaxLength > config.MaxMCPPath {
		t.Errorf("mcp.path: at most %v characters; the sidecar takes %d", deref(path.MaxLength), config.MaxMCPPath)
	}
	if origins.MaxItems == nil || *origins.MaxItems > config.MaxAllowedOrigins {
		t.Errorf("network.allowedOrigins: at most %v; the sidecar takes %d", deref(origins.MaxItems), config.MaxAllowedOrigins)
	}
	revisions := property(t, spec, "protocol", "revisions")
	if n := revisions.MaxItems; n == nil || *n > config.MaxRevisions {
		t.Errorf("protocol.revisions: at most %v; the sidecar takes %d", deref(n), config.MaxRevisions)
	}
	roots := property(t, spec, "protocol", "roots")
	if n := roots.MaxItems; n == nil || *n > config.MaxRoots {
		t.Errorf("protocol.roots: at most %v; the sidecar takes %d", deref(n), config.MaxRoots)
	}
	for name, most := range map[string]int64{"uri": config.MaxRootURI, "name": config.MaxRootName} {
		if n := roots.Items.Schema.Properties[name].MaxLength; n == nil || *n > most {
			t.Errorf("protocol.roots[].%s: at most %v characters; the sidecar takes %d", name, deref(n), most)
		}
	}
	var known []string
	for _, v := range revisions.Items.Schema.Enum {
		known = append(known, strings.Trim(string(v.Raw), `"`))
	}
	slices.Sort(known)
	if want := slices.Sorted(slices.Values(protocol.Revisions())); !slices.Equal(known, want) {
		t.Errorf("protocol.revisions: %v; the sidecar knows %v", known, want)
	}
	if n := origins.Items.Schema.MaxLength; n == nil || *n > config.MaxOriginLength {
		t.Errorf("an origin: at most %v characters; the sidecar takes %d", deref(n), config.MaxOriginLength)
	}
}

// ruleMessages returns the messages of all CEL rules by the path of their
// field. A rule without one would show its expression to the user.
func ruleMessages(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	walk(schema(t), "", func(path string, s apiextensionsv1.JSONSchemaProps) {
		for _, rule := range s.XValidations {
			if rule.Message == "" {
				t.Errorf("%s: rule %q has no message", path, rule.Rule)
				continue
			}
			out[path] = append(out[path], rule.Message)
		}
	})
	if len(out) == 0 {
		t.Fatal("the CRD has no CEL rules")
	}
	return out
}

func deref[T any](p *T) any {
	if p == nil {
		return "none"
	}
	return *p
}

func readCRD(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(testkit.Root(t), "config/crd/bases/mcp.fairlead.dev_mcpservers.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(data, crd); err != nil {
		t.Fatal(err)
	}
	return crd
}

func schema(t *testing.T) apiextensionsv1.JSONSchemaProps {
	t.Helper()
	return *readCRD(t).Spec.Versions[0].Schema.OpenAPIV3Schema
}

func property(t *testing.T, s apiextensionsv1.JSONSchemaProps, path ...string) apiextensionsv1.JSONSchemaProps {
	t.Helper()
	for i, name := range path {
		next, ok := s.Properties[name]
		if !ok {
			t.Fatalf("the schema has no %s", strings.Join(path[:i+1], "."))
		}
		s = next
	}
	return s
}

// walk visits s and everything below it in a fixed order.
func walk(s apiextensionsv1.JSONSchemaProps, path string, visit func(string, apiextensionsv1.JSONSchemaProps)) {
	visit(path, s)
	names := make([]string, 0, len(s.Properties))
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		walk(s.Properties[name], path+"."+name, visit)
	}
	if s.Items != nil && s.Items.Schema != nil {
		walk(*s.Items.Schema, path+"[]", visit)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		walk(*s.AdditionalProperties.Schema, path+"{}", visit)
	}
}
