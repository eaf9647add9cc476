package strictjson

import (
	"bytes"

	"github.com/fairlead-dev/fairlead/runtime/internal/broken"
)

// OneLine returns a valid JSON text without the whitespace runs between tokens
// that hold CR or LF, so that it can stand on one line (P9). Strings cannot
// hold raw line ends, so nothing else changes. Text that has no line end is
// returned as it is; otherwise the result is a copy.
func OneLine(src []byte) []byte {
	if bytes.IndexByte(src, '\n') < 0 && bytes.IndexByte(src, '\r') < 0 || broken.Rule("W18.1") {
		return src
	}
	dst := make([]byte, 0, len(src))
	for i := 0; i < len(src); {
		if !isSpace(src[i]) {
			dst = append(dst, src[i])
			i++
			continue
		}
		end, lineEnd := i, false
		for ; end < len(src) && isSpace(src[end]); end++ {
			lineEnd = lineEnd || src[end] == '\n' || src[end] == '\r'
		}
		if !lineEnd {
			dst = append(dst, src[i:end]...)
		}
		i = end
	}
	return dst
}

func isSpace(c byte) bool { return c <= ' ' && (c == ' ' || c == '\n' || c == '\t' || c == '\r') }
