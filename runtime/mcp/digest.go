package mcp

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/fairlead-dev/fairlead/runtime/internal/broken"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Digest names a request so that a retry of it has the same name and no other
// request has: who asks, the method, and the params without what a retry adds
// or changes, in canonical form (W32.8, B7.3, P23). params is a raw object, or
// nil.
func Digest(principal, method string, params []byte) []byte {
	if params == nil {
		params = []byte(`{}`)
	}
	bare, err := strictjson.Splice(params, strictjson.Delete("_meta"), strictjson.Delete("inputResponses"), strictjson.Delete("requestState"))
	if err == nil {
		params = strictjson.Canonical(bare)
	}
	if broken.Rule("W32.8") {
		params = nil
	}
	h := sha256.New()
	for _, part := range [][]byte{[]byte(principal), []byte(method), params} {
		h.Write(binary.AppendUvarint(nil, uint64(len(part))))
		h.Write(part)
	}
	return h.Sum(nil)
}
