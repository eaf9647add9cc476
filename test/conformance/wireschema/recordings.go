package wireschema

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/fairlead-dev/fairlead/test/conformance/record"
)

// Recordings judges what one side sent in all recordings of a folder (*.jsonl),
// tells w, and returns false when something was wrong or nothing was recorded.
// The schemas are looked for as Find does from the root of the repository;
// without them it says that nothing was judged.
func Recordings(w io.Writer, root, dir string, side record.Side) bool {
	good, err := recordings(w, root, dir, side)
	if err != nil {
		fmt.Fprintln(w, "schemas:", err)
	}
	return good && err == nil
}

func recordings(w io.Writer, root, dir string, side record.Side) (bool, error) {
	schemas, err := Find(root)
	if err != nil {
		return false, err
	}
	if schemas == "" {
		fmt.Fprintf(w, "schemas: NOT RUN: no folder mcp-schema beside the repository, and %s is not set\n", FolderVariable)
		return true, nil
	}
	judge, err := New(schemas)
	if err != nil {
		return false, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(files) == 0 {
		return false, errors.Join(fmt.Errorf("nothing was recorded in %s", dir), err)
	}
	wrong := 0
	for _, file := range files {
		lines, err := record.Read(file)
		if err != nil {
			return false, err
		}
		if side == record.Theirs {
			lines = record.Swapped(lines)
		}
		for _, v := range judge.Check(lines) {
			fmt.Fprintf(w, "schemas: %s: a %s of %s (%s) %s\n%s\n", filepath.Base(file), v.What, v.Revision, v.Method, v.Reason, v.Message)
			wrong++
		}
	}
	total := 0
	for _, c := range judge.Counts() {
		total += c.Messages
	}
	fmt.Fprintf(w, "schemas: %d messages in %d recordings were judged, %d are wrong\n", total, len(files), wrong)
	return wrong == 0 && total > 0, nil
}
