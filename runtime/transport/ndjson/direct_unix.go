//go:build unix

package ndjson

import "syscall"

// writeNow writes to a descriptor that does not block.
func writeNow(fd uintptr, b []byte) (int, error) { return syscall.Write(int(fd), b) }
