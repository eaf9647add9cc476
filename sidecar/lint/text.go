package lint

import (
	"fmt"
	"io"

	"github.com/fairlead-dev/fairlead/sidecar/toolcall"
)

// Text writes findings for a person.
func Text(w io.Writer, all []Finding) error {
	count := map[Level]int{}
	for _, f := range all {
		count[f.Level]++
		if _, err := fmt.Fprintf(w, "%-8s %-18s %s: %s\n", f.Level, f.Rule, toolcall.Printable(f.Place), toolcall.Printable(f.Message)); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%d failures, %d warnings, %d notes; docs/reference/lint.md tells the rules\n", count[Failure], count[Warning], count[Note])
	return err
}
