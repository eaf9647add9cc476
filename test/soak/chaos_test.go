package soak

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"time"
)

// chaos kills and stops the workload's processes, by the numbers of a seed.
type chaos struct {
	pod  *pod
	rand *rand.Rand
	// every is the mean time between two deeds.
	every time.Duration

	killed, stopped int
}

// mostStop is how long a process is stopped at most.
const mostStop = 3 * time.Second

func (c *chaos) String() string { return fmt.Sprintf("%d killed, %d stopped", c.killed, c.stopped) }

// run does harm until ctx ends. No process stays stopped.
func (c *chaos) run(ctx context.Context) {
	var stopped sync.WaitGroup
	defer stopped.Wait()
	for {
		pause(ctx, c.every/2+time.Duration(c.rand.Int64N(int64(c.every))))
		if ctx.Err() != nil {
			return
		}
		pids := children(c.pod.agent.pid())
		if len(pids) == 0 {
			continue
		}
		pid, time := pids[c.rand.IntN(len(pids))], time.Duration(c.rand.Int64N(int64(mostStop)))
		switch {
		case c.rand.IntN(2) == 0:
			if syscall.Kill(pid, syscall.SIGKILL) == nil {
				c.killed++
			}
		case syscall.Kill(pid, syscall.SIGSTOP) == nil:
			c.stopped++
			stopped.Go(func() {
				pause(ctx, time)
				_ = syscall.Kill(pid, syscall.SIGCONT) // somebody may have killed it
			})
		}
	}
}
