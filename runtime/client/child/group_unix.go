//go:build unix

package child

import (
	"os"
	"syscall"
)

// ownGroup puts the process into a group of its own, so that a signal for it
// reaches its children and a terminal's interrupt does not reach it.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func terminate(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGTERM) }

func kill(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }

// sweep ends what a process that was reaped has left in its group.
func sweep(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
