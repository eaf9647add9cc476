//go:build peers

package interop

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/fairlead-dev/fairlead/test/conformance/record"
	"github.com/fairlead-dev/fairlead/test/conformance/wireschema"
)

// judged checks what we sent in all conversations by the protocol's schemas;
// false when something was wrong. Without the schemas it says so.
func judged(dir string) bool {
	schemas, err := wireschema.Find(fromRoot("."))
	if err == nil && schemas == "" {
		fmt.Printf("schemas: NOT RUN: no folder mcp-schema beside the repository, and %s is not set\n", wireschema.FolderVariable)
		return true
	}
	if err != nil {
		fmt.Println("schemas:", err)
		return false
	}
	judge, err := wireschema.New(schemas)
	if err != nil {
		fmt.Println("schemas:", err)
		return false
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(files) == 0 {
		fmt.Println("schemas: nothing was recorded", err)
		return false
	}
	good := true
	for _, file := range files {
		lines, err := record.Read(file)
		if err != nil {
			fmt.Println("schemas:", file, err)
			return false
		}
		for _, v := range judge.Check(lines) {
			fmt.Printf("schemas: %s: a %s of %s (%s) %s\n%s\n", filepath.Base(file), v.What, v.Revision, v.Method, v.Reason, v.Message)
			good = false
		}
	}
	total := 0
	for _, c := range judge.Counts() {
		total += c.Messages
	}
	fmt.Printf("schemas: %d messages that we sent in %d conversations were judged\n", total, len(files))
	return good && total > 0
}

// recorded makes the folder of recordings.
func recorded() string {
	dir, err := os.MkdirTemp("", "fairlead-peers-")
	if err != nil {
		panic(err)
	}
	return dir
}
