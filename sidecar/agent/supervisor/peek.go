package supervisor

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"
)

// siginfo is the part of the kernel's siginfo_t that waitid fills in, as on
// every 64-bit Linux (asm-generic): three ints, padding to the union's
// alignment, then si_pid. x/sys hides the union.
type siginfo struct {
	signo, errno, code, _ int32
	pid                   int32
	_                     [128 - 5*4]byte
}

// The size must be the kernel's, or waitid would write past the end.
var _ [unsafe.Sizeof(unix.Siginfo{})]byte = [unsafe.Sizeof(siginfo{})]byte{}

// peek returns a child that has ended without collecting it; 0 if none has.
func peek() (int, error) {
	for {
		var info siginfo
		err := unix.Waitid(unix.P_ALL, 0, (*unix.Siginfo)(unsafe.Pointer(&info)), unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return int(info.pid), err
		}
	}
}
