//go:build e2e

package e2e

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/test/e2e/internal/wire"
	"github.com/fairlead-dev/fairlead/test/e2e/internal/world"
	"github.com/fairlead-dev/fairlead/test/testkit"
)

// trial is what a sample is tried with.
type trial struct {
	// edit makes it run here, nil for a sample that runs as it is.
	edit                  func(t *testing.T, w *world.World, ns string, s *v1alpha1.McpServer)
	tool, arguments, says string
	// more is what else it promises.
	more func(t *testing.T, w *world.World, s *v1alpha1.McpServer, url string)
}

const echoed = `{"message":"hi"}`

var trials = map[string]trial{
	"everything.yaml": {tool: "echo", arguments: echoed, says: "Echo: hi"},
	"filesystem.yaml": {tool: "read_text_file", arguments: `{"path":"/data/library/welcome.txt"}`, says: "filesystem-library"},
	"gosdk.yaml":      {tool: "echo", arguments: echoed, says: "hi"},
	"liveness.yaml":   {tool: "echo", arguments: echoed, says: "Echo: hi"},
	"shared.yaml":     {tool: "echo", arguments: echoed, says: "Echo: hi", more: everybody},
	"all-fields.yaml": {tool: "echo", arguments: echoed, says: "Echo: hi", edit: settle},
}

// Every file that a newcomer may apply becomes Ready on a real node, and
// clients of both eras call a tool of it.
func TestEverySampleServes(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testkit.Root(t), "config", "samples", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d samples, %v", len(files), err)
	}
	for _, path := range files {
		file := filepath.Base(path)
		if file == "kustomization.yaml" {
			continue // the list of those that run as they are
		}
		t.Run(file, func(t *testing.T) {
			try, ok := trials[file]
			if !ok {
				t.Fatal("nothing says what to call of this sample")
			}
			w, ns := begin(t)
			s := w.Sample(t, ns, file, func(s *v1alpha1.McpServer) {
				if try.edit != nil {
					try.edit(t, w, ns, s)
				}
			})
			w.AwaitReady(t, s)
			url := w.Endpoint(t, s)
			modern, legacy := wire.New(url), wire.New(url)
			defer modern.Close()
			defer legacy.Close()
			if err := legacy.Open(t.Context()); err != nil {
				t.Fatal(err)
			}
			for revision, c := range map[string]*wire.Client{wire.Modern: modern, wire.Legacy: legacy} {
				if text, err := c.Text(t.Context(), try.tool, try.arguments); err != nil || !strings.Contains(text, try.says) {
					t.Errorf("%s: %s says %q, %v", revision, try.tool, text, err)
				}
			}
			if try.more != nil {
				try.more(t, w, s, url)
			}
		})
	}
}

// everybody: one process serves all clients, is told of the roots of the
// sample, and the older transport is open. R23, P17
func everybody(t *testing.T, w *world.World, s *v1alpha1.McpServer, url string) {
	for range 4 {
		session(t, url)
	}
	pod := w.OnlyPod(t, s)
	world.Await(t, "one process for all", func(ctx context.Context) (bool, string) {
		status, err := w.Status(ctx, &pod)
		if err != nil {
			return false, err.Error()
		}
		return status.Counts.Processes == 1 && status.Counts.Sessions >= 5, fmt.Sprintf("%+v", status.Counts)
	})
	c := session(t, url)
	if text, err := c.Text(t.Context(), "get-roots-list", `{}`); err != nil || !strings.Contains(text, "file:///home/mcp") {
		t.Errorf("roots: %q, %v", text, err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if lines.Text() == "event: endpoint" {
			return
		}
	}
	t.Errorf("HTTP+SSE: %s, no endpoint, %v", resp.Status, lines.Err())
}

// probed starts the server and answers the sample's probes beside it. Of
// several processes in a pod the first has the port.
const probed = `import http from "node:http";
http.createServer((_, answer) => answer.end()).on("error", () => {}).listen(4000);
await import("/app/node_modules/@modelcontextprotocol/server-everything/dist/index.js");`

// settle gives the sample of all fields what it names: objects where they cost
// nothing, and where they do not exist on this node, what stands for them.
func settle(t *testing.T, w *world.World, ns string, s *v1alpha1.McpServer) {
	in := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: ns, Name: name} }
	w.MustCreate(t, &corev1.Secret{ObjectMeta: in("example-token"), StringData: map[string]string{"token": "x"}})
	w.MustCreate(t, &corev1.ConfigMap{ObjectMeta: in("example-settings"), Data: map[string]string{"SETTING": "x"}})
	w.MustCreate(t, &corev1.ServiceAccount{ObjectMeta: in("example")})
	*s.Spec.Replicas = 1
	s.Spec.Pod.PriorityClassName, s.Spec.Pod.RuntimeClassName = "", ""
	server := &s.Spec.Workload
	server.Image = "fairlead.dev/everything:dev"
	server.Command = []string{"node", "--input-type=module", "-e", probed, "server", "stdio"}
	server.Args = nil
	for i := range server.Volumes {
		switch v := &server.Volumes[i]; {
		case v.PersistentVolumeClaim != nil, v.Ephemeral != nil:
			// No storage class here.
			v.PersistentVolumeClaim, v.Ephemeral, v.EmptyDir = nil, nil, &corev1.EmptyDirVolumeSource{}
		case v.Image != nil:
			v.Image.Reference = "fairlead.dev/filesystem:dev"
		}
	}
	for i := range server.VolumeMounts {
		server.VolumeMounts[i].SubPath = ""
	}
	server.Stdio.MaxProcesses = ptr.To[int32](8)
}
