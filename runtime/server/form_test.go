package server

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// Forms that a handler makes anew each time do not pile up.
func TestCompiledFormsAreBounded(t *testing.T) {
	var s shapes
	p, _ := mcp.Lookup(mcp.Revision20260728)
	for i := range 2*maxShapes + 5 {
		if _, err := s.of(p, json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{"a%d":{"type":"string"}}}`, i))); err != nil {
			t.Fatal(err)
		}
		if len(s.known) > 256 {
			t.Fatalf("%d forms are kept", len(s.known))
		}
	}
}
