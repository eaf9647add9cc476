package dataplane

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// children are the processes that a process has started and that live.
func children(p *process) (pids []int) {
	files, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(p.cmd.Process.Pid), "task", "*", "children"))
	if err != nil {
		p.t.Fatal(err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			continue // the thread has ended
		}
		for text := range strings.FieldsSeq(string(data)) {
			pid, err := strconv.Atoi(text)
			if err != nil {
				p.t.Fatal(err)
			}
			pids = append(pids, pid)
		}
	}
	return pids
}
