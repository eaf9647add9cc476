package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

const (
	// scanRuns are repeated; the least counts. There is no other program to
	// compare with that the machine would disturb as much.
	scanRuns = 600
	// scanBytes are read in each.
	scanBytes = 1 << 20
)

// scanRows measures the strict scan alone.
func scanRows(ctx context.Context, t *table) error {
	message := fmt.Sprintf(toolCall, `,"_meta":{"progressToken":"a-token-of-some-length"}`)
	message = message[:len(message)-1] + strings.Repeat(" ", max(0, 199-len(message))) + "}"
	var keys strings.Builder
	keys.WriteString("{")
	for i := range 1000 {
		if i > 0 {
			keys.WriteString(",")
		}
		fmt.Fprintf(&keys, `"member-%d":%d`, i, i)
	}
	keys.WriteString("}")
	for _, row := range []struct {
		what, json string
		bar        float64
		allocs     bool
	}{
		{fmt.Sprintf("strict scan, %d bytes", len(message)), message, 1.2, true},
		{"strict scan, 1,000 members", keys.String(), 100, false},
	} {
		if err := ctx.Err(); err != nil {
			return err
		}
		micros, allocs, err := scan([]byte(row.json))
		if err != nil {
			return err
		}
		valid := least(len(row.json), func() { json.Valid([]byte(row.json)) })
		t.add(result{
			what: row.what, figure: micros, bar: row.bar, unit: " µs",
			detail: fmt.Sprintf("%d allocations; json.Valid, which knows no names, %.3g µs", allocs, valid),
		})
		if row.allocs {
			t.add(result{what: row.what, figure: float64(allocs), bar: 0, unit: " allocations"})
		}
	}
	return nil
}

// scan returns the CPU time of one scan and its allocations. CPU of this thread
// is what counts: the clock on the wall knows the neighbours too.
func scan(data []byte) (micros float64, allocs int64, err error) {
	once := func() {
		if e := strictjson.Scan(data, strictjson.FromClient); e != nil {
			err = e
		}
	}
	return least(len(data), once), int64(testing.AllocsPerRun(100, once)), err
}

// least returns the least CPU time that one call took, in microseconds; size
// is what a call reads.
func least(size int, once func()) (micros float64) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	micros = math.Inf(1)
	for range scanRuns {
		n := scanBytes / size
		before := cpuTime(unix.CLOCK_THREAD_CPUTIME_ID)
		for range n {
			once()
		}
		micros = min(micros, float64(cpuTime(unix.CLOCK_THREAD_CPUTIME_ID)-before)/float64(time.Microsecond)/float64(n))
	}
	return micros
}
