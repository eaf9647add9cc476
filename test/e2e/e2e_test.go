//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/test/e2e/internal/world"
)

// open connects once for all tests.
var open = sync.OnceValues(world.Open)

func TestMain(m *testing.M) {
	w, err := open()
	if err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		err = w.Check(ctx)
		cancel()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// begin gives a test the cluster and a namespace of its own. The test runs
// beside the others.
func begin(t *testing.T) (w *world.World, namespace string) {
	t.Helper()
	t.Parallel()
	return alone(t)
}

// alone is begin for a test that disturbs others or is disturbed by them.
func alone(t *testing.T) (w *world.World, namespace string) {
	t.Helper()
	w, err := open()
	if err != nil {
		t.Fatal(err)
	}
	return w, w.Namespace(t)
}
