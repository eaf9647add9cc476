package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// scanRuns are repeated; the median counts.
const scanRuns = 5

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
		t.add(result{what: row.what, figure: micros, bar: row.bar, unit: " µs", detail: fmt.Sprintf("%d allocations", allocs)})
		if row.allocs {
			t.add(result{what: row.what, figure: float64(allocs), bar: 0, unit: " allocations"})
		}
	}
	return nil
}

func scan(data []byte) (micros float64, allocs int64, err error) {
	var all []float64
	for range scanRuns {
		r := testing.Benchmark(func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err = strictjson.Scan(data, strictjson.FromClient); err != nil {
					b.Fatal(err)
				}
			}
		})
		if r.N == 0 {
			return 0, 0, errors.Join(errors.New("the scan failed"), err)
		}
		all = append(all, float64(r.T.Nanoseconds())/float64(r.N)/1000)
		allocs = r.AllocsPerOp()
	}
	return median(all), allocs, nil
}
