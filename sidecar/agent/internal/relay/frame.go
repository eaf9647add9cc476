package relay

import (
	"encoding/binary"
	"fmt"
)

// Bounds, in bytes.
const (
	// Window is how much of a stream may be under way, headers included.
	Window = 64 << 10
	// MaxData bounds what a data frame carries.
	MaxData = 16 << 10
	// header is the length of what stands before each frame.
	header = 1 + 4
)

// kind is what a frame is.
type kind byte

const (
	kindData kind = iota + 1
	kindEOF
	kindClosed
	kindCredit
	kindLine
)

func (k kind) String() string {
	switch k {
	case kindData:
		return "data"
	case kindEOF:
		return "eof"
	case kindClosed:
		return "closed"
	case kindCredit:
		return "credit"
	case kindLine:
		return "line"
	}
	return fmt.Sprintf("kind %d", byte(k))
}

// FrameError is a frame that the peer may not send. Nothing of the connection
// can be believed after it.
type FrameError struct{ detail string }

func (e *FrameError) Error() string { return "relay: " + e.detail }

func bad(format string, args ...any) error { return &FrameError{fmt.Sprintf(format, args...)} }

// appendHeader adds the header of a frame that carries n bytes.
func appendHeader(to []byte, k kind, n int) []byte {
	return binary.BigEndian.AppendUint32(append(to, byte(k)), uint32(n))
}

// parseHeader reads a header; maxLine bounds what a line may carry.
func parseHeader(raw [header]byte, maxLine int) (k kind, n int, err error) {
	k = kind(raw[0])
	size := binary.BigEndian.Uint32(raw[1:])
	least, most := 0, 0
	switch k {
	case kindData:
		least, most = 1, MaxData
	case kindEOF, kindClosed:
	case kindCredit:
		least, most = 4, 4
	case kindLine:
		least, most = 1, maxLine
	default:
		return 0, 0, bad("a frame of an unknown %v", k)
	}
	if size < uint32(least) || size > uint32(most) {
		return 0, 0, bad("%v frame of %d bytes, want %d to %d", k, size, least, most)
	}
	return k, int(size), nil
}
