// Package handle gives servers state across the calls of a protocol that keeps
// none (W7.3): a tool answers with a handle, and a later call presents it as an
// argument. A handle is an opaque text, typed by the store that made it, sealed
// (D9), bound to a principal, and expiring.
//
// There are two forms. A Store keeps values in this process; its handles name
// them, values can change, and handles can be revoked. A Sealed keeps nothing:
// the value travels inside the handle, any process with the same keys reads it,
// and it lives until it expires.
//
// Having a handle proves nothing (W38.21): every use says who asks, only the
// principal that it was made for gets anywhere, and Options.Authorize is asked
// each time. Whatever else is wrong with a handle (unknown, forged, of another
// kind, somebody else's, expired, revoked) is ErrUnknown, all alike.
//
// The package must not know the protocol: handlers put handles into results and
// read them from arguments like any other text.
package handle
