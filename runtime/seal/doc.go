// Package seal makes and opens sealed handles: opaque visible-ASCII strings
// that only holders of the key can read or make (D9).
//
// It owns the keyring and the two handles that the wire carries today, session
// ids and stream handles. A handle that was forged, cut, sealed by a retired
// key, for another server, another purpose or another principal looks exactly
// like an unknown one: there is a single error. It must not know what the
// handles are looked up in.
package seal
