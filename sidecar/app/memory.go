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

// maxFloor is how much of a heap counts as in use at least.
const maxFloor = 16 << 20

// heapFloor is memory that is never touched, so that it costs addresses and no
// pages. The collector paces itself by what is in use: without the floor it
// would run every few megabytes, because what a sidecar holds is little, and
// take a tenth of the time of every request. The caller keeps it alive.
func heapFloor(limit int64) []byte { return make([]byte, floorBytes(limit)) }

func floorBytes(limit int64) int64 { return min(limit/16, maxFloor) }
