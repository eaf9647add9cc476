package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/fairlead-dev/fairlead/sidecar/observe"
)

func TestTheCommittedPageIsCurrent(t *testing.T) {
	var b bytes.Buffer
	render(&b, observe.New("", observe.Sources{}).Docs())
	page, err := os.ReadFile("../../../docs/reference/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(page, b.Bytes()) {
		t.Error("docs/reference/metrics.md is stale: go run ./hack/gen/metricsdoc > docs/reference/metrics.md")
	}
}
