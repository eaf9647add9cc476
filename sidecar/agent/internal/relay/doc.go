// Package relay carries a child's stdin and stdout over its control connection
// where the pipes themselves cannot be passed (P11).
//
// After the first exchange both sides send frames instead of lines: a byte for
// the kind, four for the length of what follows, big endian.
//
//	data    1..MaxData bytes of the stream that the sender writes
//	eof     nothing: that stream has ended
//	closed  nothing: the sender does not want the peer's stream any more
//	credit  four bytes: so much more the peer may send
//	line    a control line (signal, stop, stopping, exit), without its newline
//
// Each direction has a window, as a pipe has a size: data frames, headers
// included, that the receiver has not handed on. So both sides always read,
// whatever their readers do, nothing overtakes what was written before it but
// a credit or a line, and neither side holds more than Window of what the
// other sent. Who sends more than it may, or anything else that a peer of this
// package does not send, has broken the connection: a *FrameError.
//
// It must not know processes or what the lines mean.
package relay
