package load

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Bounds of one run.
const (
	maxClients     = 200
	maxRun         = 15 * time.Minute
	maxRate        = 500.0 // calls per second, all modern clients together
	maxSlow        = 60 * time.Second
	maxInFlight    = 64 // per modern client
	callTimeout    = 60 * time.Second
	dialTimeout    = 10 * time.Second
	pauseOnFailure = 200 * time.Millisecond
)

// targets are the only networks a run may be aimed at: loopback, and the
// networks of the test cluster's node, services and pods.
var targets = []netip.Prefix{
	netip.MustParsePrefix("127.0.0.0/8"),
	netip.MustParsePrefix("::1/128"),
	netip.MustParsePrefix("10.96.0.0/16"),
	netip.MustParsePrefix("10.244.0.0/16"),
	netip.MustParsePrefix("172.30.0.0/16"),
}

// Tool is a tool to call. In Args, {s} and {ms} stand for the duration that a
// slow call was given, in seconds and in milliseconds.
type Tool struct {
	Name string
	Args string // a JSON object
}

func (t Tool) args(d time.Duration) string {
	return strings.NewReplacer(
		"{s}", strconv.FormatFloat(d.Seconds(), 'f', 3, 64),
		"{ms}", strconv.FormatInt(d.Milliseconds(), 10),
	).Replace(t.Args)
}

// Config describes a run. The zero value is not valid.
type Config struct {
	URL      string // http://IP:PORT/path
	Duration time.Duration
	Modern   int     // clients of 2026-07-28
	Rate     float64 // calls per second of all modern clients together
	Legacy   int     // clients of 2025-11-25

	Fast             Tool
	Slow             Tool // every second call, when it has a name
	SlowMin, SlowMax time.Duration

	// Pod, when set, finds the pod that answered in the text of a fast call's
	// result: its first group.
	Pod *regexp.Regexp
	// Seed makes the durations repeatable.
	Seed uint64
}

// Validate reports every problem at once.
func (c Config) Validate() error {
	var errs []error
	bad := func(format string, a ...any) { errs = append(errs, fmt.Errorf(format, a...)) }
	if err := checkTarget(c.URL); err != nil {
		errs = append(errs, err)
	}
	if c.Modern < 0 || c.Legacy < 0 || c.Modern+c.Legacy == 0 || c.Modern+c.Legacy > maxClients {
		bad("%d modern and %d legacy clients: 1 to %d in total", c.Modern, c.Legacy, maxClients)
	}
	if c.Duration <= 0 || c.Duration > maxRun {
		bad("duration %s: more than 0 and at most %s", c.Duration, maxRun)
	}
	if c.Modern > 0 && (c.Rate <= 0 || c.Rate > maxRate) {
		bad("rate %g: more than 0 and at most %g calls per second", c.Rate, maxRate)
	}
	if c.Fast.Name == "" {
		bad("no fast tool")
	}
	if c.Slow.Name != "" && (c.SlowMin <= 0 || c.SlowMax < c.SlowMin || c.SlowMax > maxSlow) {
		bad("slow calls of %s to %s: at most %s", c.SlowMin, c.SlowMax, maxSlow)
	}
	if c.Pod != nil && c.Pod.NumSubexp() < 1 {
		bad("pod pattern %q has no group", c.Pod)
	}
	return errors.Join(errs...)
}

func checkTarget(raw string) error {
	u, err := url.Parse(raw)
	if err != nil {
		return err
	}
	if u.Scheme != "http" {
		return fmt.Errorf("target %q: only http", raw)
	}
	ip, err := netip.ParseAddr(u.Hostname())
	if err != nil {
		return fmt.Errorf("target %q: an address, not a name: %w", raw, err)
	}
	for _, p := range targets {
		if p.Contains(ip) {
			return nil
		}
	}
	return fmt.Errorf("target %s is neither this machine nor a network of the test cluster", ip)
}
