package supervisor

import (
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// forker forks on one OS thread for as long as the supervisor lives. Pdeathsig
// fires when the forking *thread* ends; on one of the Go runtime's own, that
// could be while the process is well.
type forker struct {
	reaper   *reaper
	requests chan forkRequest
}

type forkRequest struct {
	path  string
	argv  []string
	attr  *syscall.ProcAttr
	reply chan forkReply
}

type forkReply struct {
	child *child
	err   error
}

func newForker(r *reaper) *forker {
	return &forker{reaper: r, requests: make(chan forkRequest)}
}

// run serves start until requests is closed.
func (f *forker) run() {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	for req := range f.requests {
		c, err := f.reaper.fork(func() (int, error) {
			return syscall.ForkExec(req.path, req.argv, req.attr)
		})
		req.reply <- forkReply{c, err}
	}
}

// start forks and executes path in a process group of its own, with files as
// descriptors 0, 1, 2 and nothing else. An error is the kernel's errno.
func (f *forker) start(path string, argv, env []string, cwd string, files [3]int) (*child, error) {
	req := forkRequest{
		path: path,
		argv: argv,
		attr: &syscall.ProcAttr{
			Dir:   cwd,
			Env:   env,
			Files: []uintptr{uintptr(files[0]), uintptr(files[1]), uintptr(files[2])},
			// Without a PID namespace (a laptop) nobody else would end the
			// children of an agent that was killed.
			Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: unix.SIGKILL},
		},
		reply: make(chan forkReply, 1),
	}
	f.requests <- req
	rep := <-req.reply
	return rep.child, rep.err
}
