package node

import (
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/fairlead-dev/fairlead/hack/cluster/internal/instance"
)

// prepareNetwork gives the node one address on a pair of interfaces that leads
// nowhere, and a default route over it: service addresses must have a route for
// the packet filter to see them. A dummy interface is not in every kernel.
func prepareNetwork() error {
	batch := strings.Join([]string{
		"link set lo up",
		"link add node0 type veth peer name node0p",
		fmt.Sprintf("addr add %s/%d dev node0", instance.NodeIP, instance.NodePrefix),
		"link set node0 up",
		"link set node0p up",
		"route add default dev node0",
	}, "\n")
	cmd := exec.Command("ip", "-batch", "-")
	cmd.Stdin = strings.NewReader(batch + "\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("ip: %w: %s", err, out)
	}
	for _, name := range []string{"/proc/sys/net/ipv4/ip_forward", "/proc/sys/net/bridge/bridge-nf-call-iptables"} {
		if err := os.WriteFile(name, []byte("1\n"), 0o644); err != nil {
			return err
		}
	}
	return nil
}
