package client

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestArgumentsFitTheirSchema(t *testing.T) {
	got, err := arguments([]byte(`{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"string"},"c":{"type":"boolean"},
		"d":{"enum":["x","y"]},"e":{"type":"array"},"f":{"type":"object"},"g":{"type":["string","null"]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"a": 5, "b": "text", "c": true, "d": "x", "e": []any{}, "f": map[string]any{}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("arguments (-want +got)\n%s", diff)
	}
	if _, err := arguments([]byte(`[]`)); err == nil {
		t.Error("a schema that is no object was taken")
	}
}

func TestAnUnknownScenarioNamesTheKnownOnes(t *testing.T) {
	err := Run(t.Context(), &Task{Scenario: "new-scenario"})
	if err == nil || !strings.Contains(err.Error(), "new-scenario") || !strings.Contains(err.Error(), "sse-retry") {
		t.Errorf("error %v", err)
	}
}
