package desired

import (
	"strings"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
)

// Container and port names in every pod.
const (
	ContainerWorkload = "workload"
	ContainerSidecar  = "mcp-sidecar"
	ContainerInstall  = "agent-install"

	PortNamePublic  = "mcp"
	PortNameAdmin   = "admin"
	PortNameMetrics = "metrics"
)

// Names are the names of all children (O4): Service and Deployment are called
// like the server, because their selectors make a collision fail; the others
// carry eight hex digits of the server's UID, so that a name of theirs cannot
// be taken by chance, not even by the previous server of the same name.
type Names struct {
	Deployment     string
	Service        string
	Secret         string
	ConfigMap      string
	ServiceAccount string
	PDB            string
	NetworkPolicy  string
}

// NamesOf returns the names of s's children. With at most 40 characters for
// the server all of them are DNS labels.
func NamesOf(s *v1alpha1.McpServer) Names {
	own := s.Name + "-" + shortUID(string(s.UID)) + "-"
	return Names{
		Deployment:     s.Name,
		Service:        s.Name,
		Secret:         own + "keys",
		ConfigMap:      own + "live",
		ServiceAccount: own + "pods",
		PDB:            own + "pdb",
		NetworkPolicy:  own + "network",
	}
}

// shortUID is the first eight hex digits of a UID.
func shortUID(uid string) string {
	hex := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'f' {
			return r
		}
		return -1
	}, strings.ToLower(uid))
	return (hex + "00000000")[:8]
}

// URL is the MCP endpoint inside the cluster. The search list of every pod
// completes it with the cluster's domain, which the operator does not know.
func URL(s *v1alpha1.McpServer) string {
	return "http://" + s.Name + "." + s.Namespace + ".svc/mcp"
}
