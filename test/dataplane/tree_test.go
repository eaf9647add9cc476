package dataplane

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// children are the processes that a process has started and that are there,
// zombies included.
func children(p *process) []int {
	p.t.Helper()
	return childrenOf(p.t, p.cmd.Process.Pid)
}

func childrenOf(t *testing.T, pid int) (pids []int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task", "*", "children"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			continue // the thread has ended
		}
		for text := range strings.FieldsSeq(string(data)) {
			pid, err := strconv.Atoi(text)
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
	}
	return pids
}
