package desired

import (
	"strconv"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/fairlead-dev/fairlead/sidecar/config"
)

// The command lines of our binaries, all of them. In the data plane image both
// are at the root.

func installCommand() []string { return []string{"/mcp-agent", "install", "--to", config.BinDir} }

func sidecarCommand() []string { return []string{"/mcp-sidecar"} }

// runCommand wraps a stdio workload: the agent listens on its socket and starts
// the command once per process that the sidecar asks for (D7). It ends them
// within the workload's own clock (O3).
func runCommand(command, args []string, c config.Clocks) []string {
	out := []string{config.AgentPath, "run", "--socket", config.AgentSocket, "--termination", seconds(c.WorkloadTermSeconds), "--"}
	return append(append(out, command...), args...)
}

// hookCommand asks the sidecar, and gives up before the pod's grace is over:
// a hook that runs into it loses the order of termination (O3).
func hookCommand(container string, c config.Clocks) []string {
	return []string{config.AgentPath, "hook", container, "--socket", config.HookSocket, "--deadline", seconds(c.Hook())}
}

func seconds(n int) string { return strconv.Itoa(n) + "s" }

// preStop is an exec hook: unlike httpGet hooks its result counts, it needs no
// open port, and it works in an image without a shell (O3).
func preStop(command []string) *corev1ac.LifecycleApplyConfiguration {
	return corev1ac.Lifecycle().WithPreStop(corev1ac.LifecycleHandler().
		WithExec(corev1ac.ExecAction().WithCommand(command...)))
}
