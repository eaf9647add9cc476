package app

import (
	"math"
	"runtime/debug"

	"github.com/fairlead-dev/fairlead/runtime/stream"
)

// minBudget keeps a sidecar with next to no memory useful.
const minBudget = 16 << 20

// budgetBytes is how many bytes may be buffered in streams and bodies (P18):
// the default, and not more than half of the memory limit that the operator
// derives from the container's (GOMEMLIMIT), because what is buffered is
// copied while it is parsed and written.
func budgetBytes() int64 { return budgetFor(debug.SetMemoryLimit(-1)) }

func budgetFor(limit int64) int64 {
	if limit <= 0 || limit == math.MaxInt64 {
		return stream.DefaultBudget
	}
	return max(min(limit/2, stream.DefaultBudget), minBudget)
}
