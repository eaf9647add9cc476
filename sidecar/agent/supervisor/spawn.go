package supervisor

import (
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fairlead-dev/fairlead/sidecar/agent"
	"github.com/fairlead-dev/fairlead/sidecar/agent/internal/wire"
)

// spawn forks the process that req asks for. It returns the pipe ends that go
// to the sidecar, which the caller closes. Errors are *agent.Error.
func (s *Supervisor) spawn(req *wire.Start) (p *process, stdin, stdout int, err error) {
	argv := s.Command
	if len(req.Argv) > 0 {
		if !s.AllowArgv {
			return nil, 0, 0, refuse(agent.CodeArgv, "this agent runs only the workload's own command")
		}
		argv = req.Argv
	}
	env := environment(s.Env, req.Env, req.Key)
	if err := enterable(req.Cwd); err != nil {
		return nil, 0, 0, err
	}
	path, err := executable(argv[0], env, req.Cwd)
	if err != nil {
		return nil, 0, 0, err
	}
	pipes, err := newPipes()
	if err != nil {
		return nil, 0, 0, refuse(agent.CodeExec, "cannot make pipes: %v", err)
	}
	inodes := pipes.inodes()
	c, err := s.forker.start(path, argv, env, req.Cwd, pipes.child)
	closeAll(pipes.child)
	if err != nil {
		closeAll(pipes.ours)
		return nil, 0, 0, execError(err, path, req.Cwd)
	}
	// Only the stderr end stays here. NewFile gives it to the poller if it is
	// non-blocking; if not, a thread would wait in read, which works too.
	_ = unix.SetNonblock(pipes.ours[2], true)
	p = &process{
		supervisor: s,
		key:        req.Key,
		child:      c,
		stderr:     os.NewFile(uintptr(pipes.ours[2]), "stderr"),
		grace:      grace{millis(req.StdinMillis), millis(req.TermMillis)},
		sweeper:    sweeper{key: req.Key, reaper: s.reaper, since: c.id.start, pipes: inodes},
	}
	return p, pipes.ours[0], pipes.ours[1], nil
}

func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// pipes are a child's three standard streams, all close-on-exec: dup2 onto 0,
// 1 and 2 is what clears that for the child, and for nothing else (E5).
type pipes struct{ child, ours [3]int }

func newPipes() (p pipes, err error) {
	for i := range p.child {
		p.child[i], p.ours[i] = -1, -1
	}
	for i := range p.child {
		var ends [2]int
		if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
			closeAll(p.child)
			closeAll(p.ours)
			return p, err
		}
		if i == 0 {
			p.child[i], p.ours[i] = ends[0], ends[1]
		} else {
			p.ours[i], p.child[i] = ends[0], ends[1]
		}
	}
	return p, nil
}

// inodes identify the pipes; 0 where that fails, which identifies none.
func (p pipes) inodes() (out [3]uint64) {
	for i, fd := range p.child {
		var st unix.Stat_t
		if unix.Fstat(fd, &st) == nil {
			out[i] = st.Ino
		}
	}
	return out
}

func closeAll(fds [3]int) {
	for _, fd := range fds {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}
