// Package strictjson is the one JSON decoder: what may be read, how it is
// picked apart without decoding it, and how single members are replaced
// without touching any other byte.
//
// It owns the reading policy (P8), member access on raw bytes, the member
// splice (P26), the line form of a value (P9) and the strict decoding of our
// own files into Go structs. It must not know JSON-RPC, MCP or transports.
//
// Everything works on the caller's bytes: results alias the input unless a
// doc comment says otherwise, and nothing is kept after a call returns.
// All functions may be called concurrently.
package strictjson

// Policy says whose JSON is read (P8). Both policies refuse broken grammar,
// raw bytes that are not UTF-8, more than MaxDepth levels and anything but
// whitespace after the value; both let unpaired surrogate escapes pass.
type Policy uint8

const (
	// FromClient is for whatever reaches us from outside and is decided on:
	// names are unique at every depth and an object has at most MaxMembers
	// members, so that no second parser can read the message differently and
	// no message costs more than its bytes.
	FromClient Policy = iota
	// FromWorkload is for a workload's output: names are unique where we
	// read (the outermost object, the objects directly in it, `_meta` and
	// `inputRequests`), below that bytes pass.
	FromWorkload
)

// Bounds of the policy (P8).
const (
	MaxDepth   = 128
	MaxMembers = 1024
)
