package upstream

import "testing"

func TestFixed(t *testing.T) { // B1.1
	for revision, tc := range map[Fixed]struct {
		era           Era
		offer         string
		older, newest bool // accepted
	}{
		"":           {"", `{"protocolVersion":"2024-11-05","x":1}`, true, true},
		"2025-11-25": {EraLegacy, `{"protocolVersion":"2025-11-25","x":1}`, false, true},
		"2025-03-26": {EraLegacy, `{"protocolVersion":"2025-03-26","x":1}`, true, false},
		"2026-07-28": {EraModern, `{"protocolVersion":"2024-11-05","x":1}`, true, true},
		"newest":     {"", `{"protocolVersion":"2024-11-05","x":1}`, true, true},
	} {
		if got := revision.Era(); got != tc.era {
			t.Errorf("%q is of era %q", revision, got)
		}
		if got := string(revision.Offer([]byte(`{"protocolVersion":"2024-11-05","x":1}`))); got != tc.offer {
			t.Errorf("%q offers %s", revision, got)
		}
		if revision.Accept("2025-03-26") != tc.older || revision.Accept("2025-11-25") != tc.newest || revision.Accept("2026-07-28") {
			t.Errorf("%q accepts others", revision)
		}
	}
	if got := string(Fixed("2025-03-26").Offer([]byte(`[]`))); got != `[]` {
		t.Errorf("what is no object became %s", got)
	}
}
