package desired

import (
	"k8s.io/utils/ptr"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/sidecar/config"
)

// Boot is the boot config of s's pods: what is tied to the template (O1).
func Boot(s *v1alpha1.McpServer) config.Boot {
	return config.Boot{
		Version:          config.BootVersion,
		Server:           config.ServerRef{Namespace: s.Namespace, Name: s.Name, UID: string(s.UID)},
		Workload:         bootWorkload(&s.Spec.Workload),
		Clocks:           clocks(s),
		ContractVersions: config.ContractVersions(),
		Roots:            roots(s.Spec.Protocol.Roots),
		ClientRoots:      s.Spec.Protocol.ClientRoots == v1alpha1.Enabled,
	}
}

func roots(in []v1alpha1.Root) (out []config.Root) {
	for _, r := range in {
		out = append(out, config.Root{URI: r.URI, Name: r.Name})
	}
	return out
}

func bootWorkload(w *v1alpha1.Workload) config.Workload {
	if w.Type == v1alpha1.WorkloadMCP {
		m := config.MCP{Path: config.DefaultMCPPath}
		if w.MCP != nil {
			m.Port = int(w.MCP.Port)
			if w.MCP.Path != "" {
				m.Path = w.MCP.Path
			}
			m.Revision = revision(w.MCP.Revision)
		}
		return config.Workload{Type: config.WorkloadMCP, MCP: &m}
	}
	out := config.DefaultStdio()
	if in := w.Stdio; in != nil {
		if in.ProcessModel != "" {
			out.ProcessModel = string(in.ProcessModel)
		}
		out.MaxProcesses = orDefault(in.MaxProcesses, out.MaxProcesses)
		out.IdleSeconds = orDefault(in.IdleSeconds, out.IdleSeconds)
		out.StartupSeconds = orDefault(in.StartupSeconds, out.StartupSeconds)
		out.MaxMessageBytes = orDefault(in.MaxMessageBytes, out.MaxMessageBytes)
		out.OnIdle = string(in.OnIdle)
		out.Leasing = string(in.Leasing)
		out.SharedAcrossPrincipals = string(in.SharedAcrossPrincipals)
		out.Revision = revision(in.Revision)
	}
	return config.Workload{Type: config.WorkloadStdio, Stdio: &out}
}

// revision is the one that the user has fixed, "" when the sidecar finds out.
func revision(r v1alpha1.WorkloadRevision) string {
	if r == v1alpha1.RevisionAuto {
		return ""
	}
	return string(r)
}

// clocks are the termination clocks, all from one number (O3).
func clocks(s *v1alpha1.McpServer) config.Clocks {
	return config.NewClocks(int(ptr.Deref(s.Spec.Rollout.DrainSeconds, config.DefaultDrainSeconds)))
}

// Live is the live contract of s: valid for every pod, whatever its template.
func Live(s *v1alpha1.McpServer) config.Live {
	live := config.DefaultLive()
	l := &live.Limits
	l.RequestSeconds = orDefault(s.Spec.Limits.RequestSeconds, l.RequestSeconds)
	l.MaxBodyBytes = orDefault(s.Spec.Limits.MaxBodyBytes, l.MaxBodyBytes)
	l.MaxConcurrentCalls = orDefault(s.Spec.Limits.MaxConcurrentCalls, l.MaxConcurrentCalls)
	l.KeepAliveSeconds = orDefault(s.Spec.Limits.KeepAliveSeconds, l.KeepAliveSeconds)
	for _, o := range s.Spec.Network.AllowedOrigins {
		live.Network.AllowedOrigins = append(live.Network.AllowedOrigins, string(o))
	}
	for _, r := range s.Spec.Protocol.Revisions {
		live.Protocol.Revisions = append(live.Protocol.Revisions, string(r))
	}
	live.Protocol.HTTPSSE = s.Spec.Protocol.HTTPSSE == v1alpha1.Enabled
	return live
}

func orDefault[T, S ~int | ~int32 | ~int64](user *S, def T) T {
	if user == nil {
		return def
	}
	return T(*user)
}
