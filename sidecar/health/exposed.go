package health

import (
	"context"
	"net"
	"net/netip"
	"strconv"
	"time"
)

// exposedTimeout bounds the one dial. A firewall that drops packets would
// otherwise hold the monitor.
const exposedTimeout = time.Second

// Exposed returns a question for Monitor: does the workload's own port accept
// connections on the pod's address, so that only a network policy keeps
// clients from going past the sidecar (O10)? Without a usable address it
// returns nil.
func Exposed(podIP string, port int) func(context.Context) bool {
	ip, err := netip.ParseAddr(podIP)
	if err != nil || ip.IsLoopback() || ip.IsUnspecified() {
		return nil
	}
	address := net.JoinHostPort(ip.String(), strconv.Itoa(port))
	return func(ctx context.Context) bool {
		d := net.Dialer{Timeout: exposedTimeout}
		c, err := d.DialContext(ctx, "tcp", address)
		if err != nil {
			return false
		}
		_ = c.Close()
		return true
	}
}
