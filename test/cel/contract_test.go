package cel

import (
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/sidecar/config"
	"github.com/fairlead-dev/fairlead/test/testkit"
)

// Values that the operator copies into the sidecar's files as they are. What
// the schema accepts, the sidecar must load: else a legal McpServer would have
// pods that never start. O1, O10, R17. R14.
func TestWhatTheSchemaAcceptsTheSidecarLoads(t *testing.T) {
	c := strict(t)
	ns := testkit.Namespace(t, c)
	n := 0
	accepts := func(t *testing.T, edit func(*v1alpha1.McpServer)) bool {
		t.Helper()
		n++
		server := stdioServer(ns, fmt.Sprintf("s-%d", n))
		server.Spec.Workload.Type, server.Spec.Workload.MCP = v1alpha1.WorkloadMCP, &v1alpha1.MCPWorkload{Port: 3000}
		edit(server)
		err := c.Create(t.Context(), server)
		if err != nil && !apierrors.IsInvalid(err) {
			t.Fatal(err)
		}
		return err == nil
	}
	boot := func(port int, path string) error {
		_, _, err := config.EncodeBoot(config.Boot{
			Version:          config.BootVersion,
			Server:           config.ServerRef{Namespace: ns, Name: "s", UID: "u"},
			Workload:         config.Workload{Type: config.WorkloadMCP, MCP: &config.MCP{Port: port, Path: path}},
			Clocks:           config.NewClocks(config.DefaultDrainSeconds),
			ContractVersions: config.ContractVersions(),
		})
		return err
	}

	for port, legal := range map[int32]bool{
		1: true, 80: true, 8080: true, 8081: true, 8443: true, 9090: true, // C38: the ports of others are free
		17079: true, 17080: false, 17081: false, 17082: false, 17090: false, 17099: false, 17100: true,
		65535: true, 65536: false, -1: false,
	} {
		got := accepts(t, func(s *v1alpha1.McpServer) { s.Spec.Workload.MCP.Port = port })
		if got != legal || got != (boot(int(port), "/mcp") == nil) {
			t.Errorf("port %d: the schema accepts it: %t, want %t; the sidecar: %v", port, got, legal, boot(int(port), "/mcp"))
		}
	}
	for path, legal := range map[string]bool{
		"/": true, "/mcp": true, "/mcp/": true, "/a/b.c/d-e_f~g": true, "/v1.0/mcp": true, "/%20": true, "/...": true,
		"mcp": false, "//": false, "/a//b": false, "/a/./b": false, "/a/..": false, "/..": false, "/.": false,
		"/a?b": false, "/a#b": false, "/a b": false, "/a\n": false, "/a\tb": false,
	} {
		got := accepts(t, func(s *v1alpha1.McpServer) { s.Spec.Workload.MCP.Path = path })
		if got != legal || got && boot(3000, path) != nil {
			t.Errorf("path %q: the schema accepts it: %t, want %t; the sidecar: %v", path, got, legal, boot(3000, path))
		}
	}
	for origin, legal := range map[v1alpha1.Origin]bool{
		"https://chat.example.com": true, "http://localhost:8000": true, "http://127.0.0.1:1": true,
		"http://[::1]:8080": true, "https://[2001:db8::1]": true, "chrome-extension://abcdefghijklmnop": true,
		"https://a_b.example.com": true, "https://xn--bcher-kva.example": true,
		"*": false, "https://*": false, "https://*.example.com": false, "https://": false, "null": false,
		"HTTPS://chat.example.com": false, "https://Chat.example.com": false, "https://chat.example.com/": false,
		"https://chat.example.com/x": false, "https://u@chat.example.com": false, "chat.example.com": false,
		"https://chat.example.com:": false, "https://chat.example.com:http": false, "https://a..b": false,
		"https://chat example.com": false, "https://chat.example.com?x": false, "https://[::1": false,
	} {
		got := accepts(t, func(s *v1alpha1.McpServer) { s.Spec.Network.AllowedOrigins = []v1alpha1.Origin{origin} })
		live := config.DefaultLive()
		live.Network.AllowedOrigins = []string{string(origin)}
		loads := live.Validate()
		if got != legal || got && loads != nil {
			t.Errorf("origin %q: the schema accepts it: %t, want %t; the sidecar: %v", origin, got, legal, loads)
		}
	}
}
