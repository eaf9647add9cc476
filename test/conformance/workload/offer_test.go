package workload_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/test/conformance/workload"
)

func TestOfferReadsWhatAPersonSays(t *testing.T) {
	for text, want := range map[string]mcp.Offer{
		"":                      nil,
		"modern":                {mcp.Revision20260728},
		"legacy":                {mcp.Revision20251125, mcp.Revision20250618, mcp.Revision20250326, mcp.Revision20241105},
		"2025-11-25,2024-11-05": {mcp.Revision20251125, mcp.Revision20241105},
	} {
		got, err := workload.Offer(text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v\n%s", text, err, diff)
		}
	}
	if _, err := workload.Offer("2025-11-25,newest"); err == nil {
		t.Error("a revision that there is not was taken")
	}
}
