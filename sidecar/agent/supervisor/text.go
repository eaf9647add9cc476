package supervisor

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// printable makes one line of text safe to show: escape sequences of terminals
// are removed, other control characters, direction marks and bytes that are
// not UTF-8 are spelled out. The result has no newline.
func printable(line []byte) string {
	var b strings.Builder
	for i := 0; i < len(line); {
		if n := escapeSequence(line[i:]); n > 0 {
			i += n
			continue
		}
		r, n := utf8.DecodeRune(line[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, line[i])
		case r == '\t' || strconv.IsPrint(r):
			b.Write(line[i : i+n])
		case r < utf8.RuneSelf:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
		i += n
	}
	return b.String()
}

// escapeSequence is the length of the terminal escape sequence (CSI or OSC of
// ECMA-48) that s begins with, 0 if it begins with none that is complete.
func escapeSequence(s []byte) int {
	if len(s) < 3 || s[0] != 0x1b {
		return 0
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s); i++ {
			switch c := s[i]; {
			case 0x40 <= c && c <= 0x7e:
				return i + 1
			case c < 0x20 || c > 0x3f:
				return 0
			}
		}
	case ']':
		for i := 2; i < len(s); i++ {
			switch {
			case s[i] == 0x07:
				return i + 1
			case s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\':
				return i + 2
			case s[i] < 0x20:
				return 0
			}
		}
	}
	return 0
}

// signalName is the name without SIG, or the number.
func signalName(sig syscall.Signal) string {
	if name := unix.SignalName(sig); name != "" {
		return strings.TrimPrefix(name, "SIG")
	}
	return strconv.Itoa(int(sig))
}
