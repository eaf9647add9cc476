package desired

import (
	"github.com/fairlead-dev/fairlead/sidecar/config"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
)

// The command lines of our binaries, all of them. In the data plane image both
// are at the root.

func installCommand() []string { return []string{"/mcp-agent", "install", "--to", config.BinDir} }

func sidecarCommand() []string { return []string{"/mcp-sidecar"} }

// runCommand wraps a stdio workload: the agent listens on its socket and starts
// the command once per process that the sidecar asks for (D7).
func runCommand(command, args []string) []string {
	out := []string{config.AgentPath, "run", "--socket", config.AgentSocket, "--"}
	return append(append(out, command...), args...)
}

func hookSidecar() []string { return []string{config.AgentPath, "hook", "sidecar"} }

func hookWorkload() []string { return []string{config.AgentPath, "hook", "workload"} }

// preStop is an exec hook: unlike httpGet hooks its result counts, it needs no
// open port, and it works in an image without a shell (O3).
func preStop(command []string) *corev1ac.LifecycleApplyConfiguration {
	return corev1ac.Lifecycle().WithPreStop(corev1ac.LifecycleHandler().
		WithExec(corev1ac.ExecAction().WithCommand(command...)))
}
