package agent

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// pipeEnd makes a file of a received descriptor. The workload could have sent
// anything, so it is looked at: a regular file would never block, and a
// terminal or a device has side effects. On success the file owns fd.
//
// Non-blocking mode belongs to the pipe end, not to the descriptor; the child
// has the other end, which stays blocking, as ordinary programs expect.
func pipeEnd(fd int, name string, mode int) (*os.File, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, protocol(err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFIFO {
		return nil, &Error{Code: CodeProtocol, Detail: fmt.Sprintf("the descriptor for %s is no pipe (mode %o)", name, st.Mode)}
	}
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil {
		return nil, protocol(err)
	}
	if flags&unix.O_ACCMODE != mode {
		return nil, &Error{Code: CodeProtocol, Detail: fmt.Sprintf("the descriptor for %s is the wrong end of a pipe", name)}
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, protocol(err)
	}
	return os.NewFile(uintptr(fd), name), nil
}
