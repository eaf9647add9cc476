package auth_test

import (
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/auth"
)

// P22, P33.8
func TestAnonymousCallersAreCountedByWhereTheyComeFrom(t *testing.T) {
	trusted := auth.Proxies{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for name, tc := range map[string]struct {
		proxies auth.Proxies
		remote  string
		forward []string
		want    string
	}{
		"the connection":                          {trusted, "203.0.113.7:5000", nil, "peer:203.0.113.7"},
		"a forged header":                         {trusted, "203.0.113.7:5000", []string{"198.51.100.1"}, "peer:203.0.113.7"},
		"without proxies the header is nothing":   {nil, "10.0.0.1:5000", []string{"198.51.100.1"}, "peer:10.0.0.1"},
		"behind a trusted proxy":                  {trusted, "10.0.0.1:5000", []string{"198.51.100.1"}, "peer:198.51.100.1"},
		"behind two of them":                      {trusted, "10.0.0.1:5000", []string{"192.0.2.9, 198.51.100.1", "10.2.3.4"}, "peer:198.51.100.1"},
		"what stands further left was forged":     {trusted, "10.0.0.1:5000", []string{"1.1.1.1, 198.51.100.1:4000"}, "peer:198.51.100.1"},
		"a proxy that writes nonsense":            {trusted, "10.0.0.1:5000", []string{"198.51.100.1, unknown"}, "peer:10.0.0.1"},
		"a proxy that writes nothing":             {trusted, "10.0.0.1:5000", nil, "peer:10.0.0.1"},
		"proxies without end":                     {trusted, "10.0.0.1:5000", []string{"198.51.100.1," + strings.Repeat("10.0.0.2,", 50) + "10.0.0.3"}, "peer:10.0.0.2"},
		"IPv6 is one place a network":             {trusted, "[2001:db8:1:2:3::4%eth0]:5000", nil, "peer:2001:db8:1:2::/64"},
		"IPv4 in IPv6 is IPv4":                    {trusted, "[::ffff:203.0.113.7]:5000", nil, "peer:203.0.113.7"},
		"an IPv6 address of a proxy, in brackets": {trusted, "[fd00::1]:5000", []string{"[2001:db8::1]:443"}, "peer:2001:db8::/64"},
		"no address at all":                       {trusted, "@", nil, "peer:"},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest("POST", "/mcp", nil)
			r.RemoteAddr = tc.remote
			for _, value := range tc.forward {
				r.Header.Add("X-Forwarded-For", value)
			}
			if got := auth.Bucket(nil, tc.proxies.Client(r)); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
	if got := auth.Bucket(&auth.Identity{Principal: "peer:1.2.3.4"}, netip.Addr{}); got != "principal:peer:1.2.3.4" {
		t.Errorf("a principal counts as %s", got)
	}
}
