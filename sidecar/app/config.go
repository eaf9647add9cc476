package app

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/stream"
	"github.com/fairlead-dev/fairlead/sidecar/config"
	"github.com/fairlead-dev/fairlead/sidecar/drain"
	"github.com/fairlead-dev/fairlead/sidecar/upstream/stdio"
)

// Config is everything an App needs to know. FromEnv makes one for a pod.
type Config struct {
	Boot     config.Boot
	BootHash string
	// PodUID and PodIP are empty outside a pod.
	PodUID, PodIP string
	// Public, Admin and Metrics are listen addresses. Without Admin or Metrics
	// that port is not served.
	Public, Admin, Metrics string
	// LiveDir and KeysDir are the mounts. Without LiveDir the defaults hold;
	// without KeysDir a key is made that lives as long as the process.
	LiveDir, KeysDir string
	// Live holds where there is no LiveDir; nil: the defaults.
	Live *config.Live
	// AgentSocket is where the agent of a Stdio workload listens, HookSocket
	// where we listen for hooks; without the latter there are none.
	AgentSocket, HookSocket string
	// Keep is how long what waits for clients to come back is kept: calls of the
	// workload that ask something, and tasks. 0 means their defaults (B18, R22).
	Keep time.Duration
	// Collect serves /collect on the admin port, which collects garbage, so that
	// what is live after it is held by somebody, and tells all goroutines. What
	// the runtime keeps of those that have ended is made and counted before.
	Collect bool
	// Drain are the clocks of the drain, Ending is how long everything after
	// it may take.
	Drain  drain.Clocks
	Ending time.Duration
	// Budget bounds the bytes that are buffered, both ways together; New makes
	// one from the memory limit.
	Budget *stream.Budget
	// Keys seal what clients are given to bring back; New makes the ring.
	Keys *seal.Keyring
	// Workload is told where the workload stands whenever that changes, with the
	// error behind it or nil. It must not block and may be nil.
	Workload func(s config.WorkloadStatus, err error)
	Log      *slog.Logger

	// public and starter stand in for the public port and the agent in tests.
	public  net.Listener
	starter stdio.Starter
}

// The parts of the drain that are not the operator's to choose. O25 asks for
// two seconds of linger at least; on a busy node endpoints have been seen to
// move seven seconds after the pod said goodbye.
const (
	linger = 5 * time.Second
	spread = 3 * time.Second
)

// FromEnv reads the configuration of a pod. The error names every problem.
func FromEnv(getenv func(string) string) (Config, error) {
	boot, hash, err := config.LoadBoot([]byte(getenv(config.BootEnv)))
	if getenv(config.BootEnv) == "" {
		err = fmt.Errorf("%s is not set: the operator sets it in the pod; on a laptop use `mcp-sidecar run`", config.BootEnv)
	}
	c := ForBoot(boot, hash)
	c.PodUID, c.PodIP = getenv(config.EnvPodUID), getenv(config.EnvPodIP)
	if c.PodUID == "" {
		err = errors.Join(err, fmt.Errorf("%s is not set: session ids could not name their owner", config.EnvPodUID))
	}
	if c.PodIP != "" && net.ParseIP(c.PodIP) == nil {
		err = errors.Join(err, fmt.Errorf("%s is no IP address", config.EnvPodIP))
	}
	return c, err
}

// ForBoot returns the configuration of a pod with this boot config.
func ForBoot(boot config.Boot, hash string) Config {
	return Config{
		Boot:        boot,
		BootHash:    hash,
		Public:      listenOn(config.PortPublic),
		Admin:       listenOn(config.PortAdmin),
		Metrics:     listenOn(config.PortMetrics),
		LiveDir:     config.LiveDir,
		KeysDir:     config.KeysDir,
		AgentSocket: config.AgentSocket,
		HookSocket:  config.HookSocket,
		Drain: drain.Clocks{
			Propagation: seconds(boot.Clocks.PropagationSeconds),
			Drain:       seconds(boot.Clocks.DrainSeconds),
			Linger:      linger,
			Spread:      spread,
		},
		Ending: seconds(boot.Clocks.SidecarSeconds),
	}
}

func listenOn(port int) string { return ":" + strconv.Itoa(port) }

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

// Version is what this binary calls itself.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
