package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// checkDefects reads test/defects.tsv: a defect that somebody else had, where
// it was seen, and the tests that show ours right, separated by tabs. It
// returns how many there are.
func checkDefects(path string, found *testIndex) (int, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	var problems []error
	count := 0
	for i, line := range strings.Split(strings.TrimRight(string(data), "\n"), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		count++
		cols := strings.Split(line, "\t")
		if len(cols) != 3 || cols[0] == "" || cols[1] == "" {
			problems = append(problems, fmt.Errorf("%s:%d: want where, defect and tests", path, i+1))
			continue
		}
		if err := found.checkAll(strings.Fields(cols[2])); err != nil {
			problems = append(problems, fmt.Errorf("%s:%d: %s: %w", path, i+1, cols[0], err))
		}
	}
	return count, errors.Join(problems...)
}
