//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/controllers/mcpserver/desired"
	"github.com/fairlead-dev/fairlead/test/e2e/internal/wire"
	"github.com/fairlead-dev/fairlead/test/e2e/internal/world"
)

// script replaces the workload's command by a line of JavaScript.
func script(s *v1alpha1.McpServer, js string) {
	s.Spec.Workload.Command = []string{"node", "-e", js}
	s.Spec.Workload.Args = nil
}

const (
	silent  = `setInterval(() => {}, 1000)`
	exits   = `console.error("no database at db.example"); process.exit(3)`
	garbage = `process.stdin.on("data", () => console.log("Starting up, please wait..."))`
)

// O18: each fault has its own reason, in our own words, and the server recovers
// when the fault is repaired.
func TestEachFaultHasItsReasonAndRecovers(t *testing.T) {
	type edit = func(*v1alpha1.McpServer)
	good := func(s *v1alpha1.McpServer) {
		s.Spec.Workload.Image = "fairlead.dev/everything:dev"
		s.Spec.Workload.Command = []string{"node", "/app/node_modules/@modelcontextprotocol/server-everything/dist/index.js", "stdio"}
		s.Spec.Workload.SecurityContext = nil
	}
	cases := map[string]struct {
		sample  string
		edit    edit
		reasons []string // of Ready False
		says    string   // in the message
		repair  edit
	}{
		"the registry does not know the image": {
			edit:    func(s *v1alpha1.McpServer) { s.Spec.Workload.Image = "localhost:5000/nobody/nothing:1" },
			reasons: []string{v1alpha1.ReasonImagePullFailed}, repair: good,
		},
		"the command exits": {
			edit:    func(s *v1alpha1.McpServer) { script(s, exits) },
			reasons: []string{v1alpha1.ReasonWorkloadExited, v1alpha1.ReasonWorkloadCrashLooping}, says: "3", repair: good,
		},
		"the command never answers": {
			edit: func(s *v1alpha1.McpServer) {
				script(s, silent)
				s.Spec.Workload.Stdio.StartupSeconds = ptr.To[int32](5)
			},
			reasons: []string{v1alpha1.ReasonWorkloadNoAnswer}, repair: good,
		},
		"the workload prints garbage": {
			edit:    func(s *v1alpha1.McpServer) { script(s, garbage) },
			reasons: []string{v1alpha1.ReasonWorkloadBadOutput}, repair: good,
		},
		"nobody listens on the port": {
			sample:  "gosdk.yaml",
			edit:    func(s *v1alpha1.McpServer) { s.Spec.Workload.MCP.Port = 3999 },
			reasons: []string{v1alpha1.ReasonWorkloadUnreachable},
			repair:  func(s *v1alpha1.McpServer) { s.Spec.Workload.MCP.Port = 3000 },
		},
		"nothing of MCP under the path": {
			sample:  "gosdk.yaml",
			edit:    func(s *v1alpha1.McpServer) { s.Spec.Workload.MCP.Path = "/elsewhere" },
			reasons: []string{v1alpha1.ReasonWorkloadHTTPStatus},
			repair:  func(s *v1alpha1.McpServer) { s.Spec.Workload.MCP.Path = "/mcp" },
		},
		"root is asked for": {
			edit: func(s *v1alpha1.McpServer) {
				s.Spec.Workload.SecurityContext = &corev1.SecurityContext{RunAsUser: ptr.To[int64](0)}
			},
			reasons: []string{v1alpha1.ReasonImageRunsAsRoot}, repair: good,
		},
		"the command is no program": {
			sample:  "gosdk.yaml",
			edit:    func(s *v1alpha1.McpServer) { s.Spec.Workload.Command = []string{"/no/such/program"} },
			reasons: []string{v1alpha1.ReasonContainerStartFailed},
			repair:  func(s *v1alpha1.McpServer) { s.Spec.Workload.Command = nil },
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w, ns := begin(t)
			sample := c.sample
			if sample == "" {
				sample = "everything.yaml"
			}
			s := w.Sample(t, ns, sample, func(s *v1alpha1.McpServer) {
				s.Spec.Replicas = ptr.To[int32](1)
				c.edit(s)
			})
			available := w.AwaitCondition(t, s, v1alpha1.ConditionAvailable, "False", c.reasons...)
			ownWords(t, w, s, available, c.says)
			steady(t, w, s, c.reasons)
			w.Edit(t, s, c.repair)
			w.AwaitReady(t, s)
			callsWork(t, w.Endpoint(t, s))
		})
	}
}

// volatile is what must never be in a message (O18).
var volatile = regexp.MustCompile(`back-off|[0-9a-f]{8}-[0-9a-f]{4}-|database at db\.example|please wait|\d+m\d+s`)

func ownWords(t *testing.T, w *world.World, s *v1alpha1.McpServer, c *metav1.Condition, says string) {
	t.Helper()
	if c.Message == "" || volatile.MatchString(c.Message) {
		t.Errorf("%s: message %q: want our own sentence without anything volatile", c.Reason, c.Message)
	}
	if !strings.Contains(c.Message, says) {
		t.Errorf("%s: message %q lacks %q", c.Reason, c.Message, says)
	}
	for _, p := range w.Pods(t, s) {
		if strings.Contains(c.Message, p.Name) {
			t.Errorf("%s: message %q names a pod", c.Reason, c.Message)
		}
	}
}

// steady watches that the reason stays while the fault lasts: it may become
// more definite once, and never goes back to Starting.
func steady(t *testing.T, w *world.World, s *v1alpha1.McpServer, reasons []string) {
	t.Helper()
	end := w.WatchCondition(t, s, v1alpha1.ConditionAvailable)
	time.Sleep(45 * time.Second)
	moves := end()
	if len(moves) > len(reasons)-1 {
		t.Errorf("the reason flaps: %v", moves)
	}
}

// O16, O18: the operator reads no Secret; the kubelet's word is enough to name
// the fault, and the pod starts by itself when the Secret is there.
func TestMissingSecretIsNamedAndWaitedFor(t *testing.T) {
	secret := func(ns string) *corev1.Secret {
		return &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: "token", Namespace: ns},
			StringData: map[string]string{"TOKEN": "not in any condition"},
		}
	}
	cases := map[string]struct {
		reason string
		edit   func(*v1alpha1.McpServer)
	}{
		"in envFrom": {v1alpha1.ReasonReferenceNotFound, func(s *v1alpha1.McpServer) {
			s.Spec.Workload.EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "token"}}}}
		}},
		"in a volume": {v1alpha1.ReasonVolumeNotFound, func(s *v1alpha1.McpServer) {
			s.Spec.Workload.Volumes = []v1alpha1.Volume{{Name: "token", Secret: &corev1.SecretVolumeSource{SecretName: "token"}}}
			s.Spec.Workload.VolumeMounts = []v1alpha1.VolumeMount{{Name: "token", MountPath: "/token"}}
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w, ns := begin(t)
			s := w.Sample(t, ns, "everything.yaml", c.edit)
			w.AwaitCondition(t, s, v1alpha1.ConditionResolvedRefs, "False", c.reason)
			w.AwaitCondition(t, s, v1alpha1.ConditionAvailable, "False", c.reason)
			w.MustCreate(t, secret(ns))
			w.AwaitReady(t, s)
			w.AwaitCondition(t, s, v1alpha1.ConditionResolvedRefs, "True", v1alpha1.ReasonResolvedRefs)
		})
	}
}

// The operator does read claims: their access modes decide about the strategy.
func TestMissingClaimIsNamed(t *testing.T) {
	w, ns := begin(t)
	s := w.Sample(t, ns, "everything.yaml", func(s *v1alpha1.McpServer) {
		s.Spec.Workload.Volumes = []v1alpha1.Volume{{Name: "data", PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "absent"}}}
		s.Spec.Workload.VolumeMounts = []v1alpha1.VolumeMount{{Name: "data", MountPath: "/data"}}
	})
	w.AwaitCondition(t, s, v1alpha1.ConditionAvailable, "False", v1alpha1.ReasonVolumeNotFound)
}

// Who writes the NetworkPolicy is the user's choice, also afterwards (O13).
func TestUnmanagedNetworkPolicyIsRemoved(t *testing.T) {
	w, ns := begin(t)
	s := w.Sample(t, ns, "gosdk.yaml", func(s *v1alpha1.McpServer) { s.Spec.Replicas = ptr.To[int32](1) })
	w.AwaitReady(t, s)
	policy := &networkingv1.NetworkPolicy{}
	key := client.ObjectKey{Namespace: ns, Name: desired.NamesOf(s).NetworkPolicy}
	if err := w.Get(t.Context(), key, policy); err != nil {
		t.Fatal(err)
	}
	w.Edit(t, s, func(s *v1alpha1.McpServer) { s.Spec.Network.Policy = v1alpha1.NetworkPolicyUnmanaged })
	world.Await(t, "the policy is gone", func(ctx context.Context) (bool, string) {
		err := w.Get(ctx, key, policy)
		return err != nil && client.IgnoreNotFound(err) == nil, fmt.Sprint(err)
	})
	w.Edit(t, s, func(s *v1alpha1.McpServer) { s.Spec.Network.Policy = "" })
	world.Await(t, "the policy is back", func(ctx context.Context) (bool, string) {
		err := w.Get(ctx, key, policy)
		return err == nil, fmt.Sprint(err)
	})
}

// O7: a valid edit that never becomes ready leaves the old pods serving.
func TestEditThatNeverBecomesReadyKeepsServing(t *testing.T) {
	w, ns := begin(t)
	s := ready(t, w, ns)
	url := w.Endpoint(t, s)
	lowest := w.WatchEndpoints(t, s)
	available := w.WatchCondition(t, s, v1alpha1.ConditionAvailable)
	w.Edit(t, s, func(s *v1alpha1.McpServer) { script(s, silent) })
	w.AwaitCondition(t, s, v1alpha1.ConditionReady, "Unknown", v1alpha1.ReasonRollingOut)
	time.Sleep(30 * time.Second)
	if c, err := w.Condition(t.Context(), s, v1alpha1.ConditionAvailable); err != nil || c == nil || c.Status != "True" {
		t.Errorf("Available: %+v, %v", c, err)
	}
	c := wire.New(url)
	defer c.Close()
	if _, err := c.Text(t.Context(), "echo", `{"message":"x"}`); err != nil {
		t.Errorf("the old pod does not serve: %v", err)
	}
	if n := lowest(); n < 1 {
		t.Error("there was a moment without a ready endpoint")
	}
	if moves := available(); len(moves) > 0 {
		t.Errorf("Available moved: %v", moves)
	}
	w.Edit(t, s, func(s *v1alpha1.McpServer) {
		s.Spec.Workload.Command = []string{"node", "/app/node_modules/@modelcontextprotocol/server-everything/dist/index.js", "stdio"}
	})
	w.AwaitReady(t, s)
}

// O9: the forced uid makes images of every kind of USER run under restricted.
func TestImagesOfEveryKindOfUserRunRestricted(t *testing.T) {
	for name, image := range map[string]string{
		"without USER":   "fairlead.dev/everything:dev",
		"a named USER":   "fairlead.dev/everything-named:dev",
		"a numeric USER": "fairlead.dev/everything-numeric:dev",
	} {
		t.Run(name, func(t *testing.T) {
			w, ns := begin(t)
			s := ready(t, w, ns, func(s *v1alpha1.McpServer) { s.Spec.Workload.Image = image })
			p := w.OnlyPod(t, s)
			id := w.Kubectl(t, "exec", "-n", ns, p.Name, "-c", workload, "--", "sh", "-c", "echo $HOME; echo ok > $HOME/written && cat $HOME/written")
			if !strings.Contains(id, "ok") {
				t.Errorf("no writable home: %q", id)
			}
			callsWork(t, w.Endpoint(t, s))
		})
	}
}
