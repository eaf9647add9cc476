package laptop

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// sweepTime bounds sweep: what cannot be killed in that time waits for a disk.
const sweepTime = 2 * time.Second

// adopt makes us the parent of what an agent that is killed leaves behind. A
// kernel that cannot is no reason not to serve.
func adopt() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// sweep kills every process that has become our child, and what becomes so
// thereby. The agent, our only own one, must have been waited for.
func sweep() {
	for end := time.Now().Add(sweepTime); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		left := orphans()
		if len(left) == 0 {
			return
		}
		for _, pid := range left {
			_ = unix.Kill(pid, unix.SIGKILL)
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil) // if not now, then next time
		}
	}
}

func orphans() (pids []int) {
	files, _ := filepath.Glob("/proc/self/task/*/children") // the pattern is good
	for _, f := range files {
		text, _ := os.ReadFile(f) // a thread that has ended has none
		for word := range strings.FieldsSeq(string(text)) {
			if pid, err := strconv.Atoi(word); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
