package socket

import (
	"net"

	"golang.org/x/sys/unix"
)

// Peer is who opened the other end, by the kernel's word (SO_PEERCRED). For
// the end that connected it is who called listen.
type Peer struct {
	UID int
	// PID is the peer's process id as this process sees it: 0 if the peer
	// lives in a pid namespace that is hidden from ours, as another container
	// of the pod does.
	PID int
}

// PeerOf asks the kernel.
func PeerOf(conn *net.UnixConn) (Peer, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return Peer{}, err
	}
	var cred *unix.Ucred
	var cerr error
	err = raw.Control(func(fd uintptr) {
		cred, cerr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err == nil {
		err = cerr
	}
	if err != nil {
		return Peer{}, err
	}
	return Peer{UID: int(cred.Uid), PID: int(cred.Pid)}, nil
}
