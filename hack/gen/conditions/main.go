// Command conditions writes the reference of condition types and reasons from
// the constants in api/v1alpha1 and their docs, so that code and document
// cannot differ. Run by `make generate`.
//
//	go run ./hack/gen/conditions TREE > docs/reference/conditions.md
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

const head = `# Conditions and reasons of a McpServer

Generated from the constants in ` + "`api/v1alpha1`" + ` by ` + "`make generate`" + `; do not edit.

` + "`kubectl get mcpservers`" + ` shows condition Available as READY and the reason of
condition Ready as REASON; ` + "`kubectl describe mcpserver NAME`" + ` shows all with their
messages. Each condition carries the generation of the spec that it is about.
`

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: conditions TREE")
		os.Exit(2)
	}
	if err := write(os.Stdout, filepath.Join(os.Args[1], "api/v1alpha1")); err != nil {
		fmt.Fprintln(os.Stderr, "conditions:", err)
		os.Exit(1)
	}
}

func write(w io.Writer, dir string) error {
	types, err := read(filepath.Join(dir, "conditions.go"), "Condition")
	if err != nil {
		return err
	}
	reasons, err := read(filepath.Join(dir, "reasons.go"), "Reason")
	if err != nil {
		return err
	}
	fmt.Fprint(w, head, "\n## Conditions\n")
	for _, group := range types {
		for _, c := range group.constants {
			fmt.Fprintf(w, "\n### %s\n\n%s\n", c.value, c.doc)
		}
	}
	fmt.Fprint(w, "\n## Reasons\n")
	for _, group := range reasons {
		fmt.Fprintf(w, "\n%s\n\n| reason | of | meaning, and what to do |\n|---|---|---|\n", group.doc)
		for _, c := range group.constants {
			fmt.Fprintf(w, "| `%s` | %s | %s |\n", c.value, cell(c.where), cell(c.doc))
		}
	}
	return nil
}
