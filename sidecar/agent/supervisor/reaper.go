package supervisor

import (
	"errors"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// child is a process that the supervisor forked. status is valid once done is
// closed.
type child struct {
	pid    int
	id     procID // zero if /proc does not show it
	done   chan struct{}
	status unix.WaitStatus
}

// reaper collects every child: those it forked, and orphans that the kernel
// handed to this process as PID 1 or child subreaper.
type reaper struct {
	mu       sync.Mutex
	children map[int]*child // by pid, not yet collected
}

func newReaper() *reaper { return &reaper{children: map[int]*child{}} }

// fork runs fn, which forks, so that the child is known before it can be
// collected. fn may also wait for a child that it could not exec.
func (r *reaper) fork(fn func() (pid int, err error)) (*child, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	pid, err := fn()
	if err != nil {
		return nil, err
	}
	c := &child{pid: pid, done: make(chan struct{})}
	if p, ok := stat(pid); ok { // not collected yet, so it is this one
		c.id = p.procID
	}
	r.children[pid] = c
	return c, nil
}

// signal sends sig to the child's group unless the child has been collected.
func (r *reaper) signal(c *child, sig unix.Signal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.children[c.pid] == c {
		unix.Kill(-c.pid, sig)
	}
}

// orphan tells whether pid, which has us as its parent, is none that we forked
// and fulfils sign. Under the lock no fork is half done: until it executes, a
// new child has all our descriptors.
func (r *reaper) orphan(pid int, sign func(pid int) bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.children[pid] == nil && sign(pid)
}

// run collects whenever sigchld fires, until it is closed.
func (r *reaper) run(sigchld <-chan os.Signal) {
	for range sigchld {
		r.collect()
	}
}

// collect takes every child that has ended. Signals coalesce, so one may stand
// for many.
func (r *reaper) collect() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		pid, err := peek()
		if pid == 0 || err != nil {
			return // none is waiting, or there are no children
		}
		c := r.children[pid]
		if c != nil {
			// The zombie still holds its id and with it the group's: nobody
			// else can be hit.
			unix.Kill(-pid, unix.SIGKILL)
		}
		status, err := wait(pid)
		if err != nil {
			return
		}
		if c != nil {
			delete(r.children, pid)
			c.status = status
			close(c.done)
		}
	}
}

func wait(pid int) (unix.WaitStatus, error) {
	for {
		var status unix.WaitStatus
		_, err := unix.Wait4(pid, &status, 0, nil)
		if !errors.Is(err, unix.EINTR) {
			return status, err
		}
	}
}
