package mcp_test

import (
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

func TestOffer(t *testing.T) { // W4.3, B2.2
	for name, tt := range map[string]struct {
		offer          mcp.Offer
		modern, legacy string
		negotiate      [][2]string // requested, answered
	}{
		"all":         {nil, "2026-07-28", "2025-11-25 2025-06-18 2025-03-26 2024-11-05", [][2]string{{"2025-03-26", "2025-03-26"}, {"2026-07-28", "2025-11-25"}, {"", "2025-11-25"}}},
		"some":        {mcp.Offer{"2025-03-26", "2026-07-28", "2025-06-18", "1999-01-01"}, "2026-07-28", "2025-06-18 2025-03-26", [][2]string{{"2025-03-26", "2025-03-26"}, {"2025-11-25", "2025-06-18"}, {"1999-01-01", "2025-06-18"}}},
		"modern only": {mcp.Offer{"2026-07-28"}, "2026-07-28", "", [][2]string{{"2025-03-26", ""}, {"2026-07-28", ""}}},
		"legacy only": {mcp.Offer{"2024-11-05"}, "", "2024-11-05", [][2]string{{"2025-11-25", "2024-11-05"}}},
	} {
		if got := strings.Join(tt.offer.Modern(), " "); got != tt.modern {
			t.Errorf("%s: modern %s", name, got)
		}
		if got := strings.Join(tt.offer.Legacy(), " "); got != tt.legacy {
			t.Errorf("%s: legacy %s", name, got)
		}
		if got := strings.TrimSpace(strings.Join(tt.offer.Revisions(), " ")); got != strings.TrimSpace(tt.modern+" "+tt.legacy) {
			t.Errorf("%s: all %s", name, got)
		}
		for _, n := range tt.negotiate {
			p, ok := tt.offer.Negotiate(n[0])
			if p.Revision != n[1] || ok != (n[1] != "") {
				t.Errorf("%s: %s became %s", name, n[0], p.Revision)
			}
		}
	}
	if (mcp.Offer{"x"}).Has("x") || !(mcp.Offer{}).Has("2025-11-25") {
		t.Error("Has")
	}
}
