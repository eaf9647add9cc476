package app

import (
	"testing"

	"github.com/fairlead-dev/fairlead/sidecar/config"
	"github.com/fairlead-dev/fairlead/sidecar/proxy"
)

func TestLeasingOf(t *testing.T) { // P5, R23, R24
	stdio := func(model, leasing string) config.Workload {
		return config.Workload{Stdio: &config.Stdio{ProcessModel: model, Leasing: leasing}}
	}
	for name, tc := range map[string]struct {
		w    config.Workload
		want proxy.Leasing
	}{
		"a port":                     {config.Workload{MCP: &config.MCP{}}, proxy.LeaseAuto},
		"by default":                 {stdio(config.ProcessPerSession, ""), ""},
		"always":                     {stdio(config.ProcessPooled, config.LeasingAlways), proxy.LeaseAlways},
		"never":                      {stdio(config.ProcessPerSession, config.LeasingNever), proxy.LeaseNever},
		"never on everybody's":       {stdio(config.ProcessShared, ""), proxy.LeaseNever},
		"not even where it is asked": {stdio(config.ProcessShared, config.LeasingAlways), proxy.LeaseNever},
	} {
		if got := leasingOf(tc.w); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
