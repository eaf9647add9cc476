package nodeconf

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/fairlead-dev/fairlead/hack/cluster/internal/instance"
)

func config(t *testing.T) Config {
	t.Helper()
	i, err := instance.New("test", "/src", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return For(i, "/tools", "overlayfs")
}

func written(t *testing.T, c Config, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(c.ConfDir, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestFilesAreWhatTheirReadersParse(t *testing.T) {
	c := config(t)
	if err := c.Write(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"kubelet.yaml", "kube-proxy.yaml", "audit-policy.yaml"} {
		var doc map[string]any
		if err := yaml.UnmarshalStrict(written(t, c, name), &doc); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if doc["kind"] == nil || doc["apiVersion"] == nil {
			t.Errorf("%s says neither kind nor version", name)
		}
	}
	var list map[string]any
	if err := json.Unmarshal(written(t, c, "cni/10-bridge.conflist"), &list); err != nil {
		t.Error(err)
	}
	for name, want := range map[string]string{
		"containerd.toml":                "sandbox = '" + PauseImage + "'",
		"registries/_default/hosts.toml": "http://" + instance.Registry,
		"resolv.conf":                    "nameserver " + instance.DNSIP,
		"kubelet.yaml":                   "cgroupRoot: /" + c.Cgroup,
	} {
		if !strings.Contains(string(written(t, c, name)), want) {
			t.Errorf("%s lacks %q", name, want)
		}
	}
}

func TestEveryTemplateIsWritten(t *testing.T) {
	entries, err := templates.ReadDir("templates")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if files()[e.Name()] == "" {
			t.Errorf("%s is rendered nowhere", e.Name())
		}
	}
}

func TestArgumentsPointToFilesThatAreWritten(t *testing.T) {
	c := config(t)
	if err := c.Write(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{Etcd, APIServer, ControllerManager, Scheduler, Containerd, Kubelet, KubeProxy} {
		argv := c.Argv(name)
		if len(argv) < 2 || argv[0] != filepath.Join("/tools", name) {
			t.Errorf("%s: %q", name, argv)
			continue
		}
		for _, arg := range argv[1:] {
			_, path, _ := strings.Cut(arg, "=")
			if !strings.HasPrefix(path, c.ConfDir+"/") {
				continue
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s %s: %v", name, arg, err)
			}
		}
		if slices.ContainsFunc(argv, func(a string) bool { return !strings.HasPrefix(a, "-") && a != argv[0] }) {
			t.Errorf("%s has an argument that is no flag: %q", name, argv)
		}
	}
	if c.Argv("no-such") != nil {
		t.Error("an unknown component has a command line")
	}
}

// O19: writes are counted by user from the audit log, so no rule may drop one.
func TestTheAuditPolicyDropsOnlyReads(t *testing.T) {
	c := config(t)
	if err := c.Write(); err != nil {
		t.Fatal(err)
	}
	var policy struct {
		OmitStages []string `json:"omitStages"`
		Rules      []struct {
			Level           string   `json:"level"`
			Verbs           []string `json:"verbs"`
			NonResourceURLs []string `json:"nonResourceURLs"`
		} `json:"rules"`
	}
	if err := yaml.Unmarshal(written(t, c, "audit-policy.yaml"), &policy); err != nil {
		t.Fatal(err)
	}
	for _, r := range policy.Rules {
		reads := len(r.Verbs) > 0 && !slices.ContainsFunc(r.Verbs, func(v string) bool { return !slices.Contains([]string{"get", "list", "watch"}, v) })
		if r.Level == "None" && !reads && len(r.NonResourceURLs) == 0 {
			t.Errorf("rule %+v drops writes", r)
		}
	}
	if last := policy.Rules[len(policy.Rules)-1]; last.Level != "Metadata" || last.Verbs != nil {
		t.Errorf("the last rule is %+v, want Metadata for everything", last)
	}
	if slices.Contains(policy.OmitStages, "ResponseStarted") {
		t.Error("a running watch would not show")
	}
}
