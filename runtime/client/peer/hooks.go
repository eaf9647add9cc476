package peer

// Drop is the closed set of reasons for which something from the server is
// thrown away.
type Drop string

// The reasons.
const (
	DropUnknownID   Drop = "unknown_id"       // an answer to nothing we asked (R6)
	DropLate        Drop = "late"             // an answer after cancel, or a second one
	DropNoise       Drop = "noise"            // a line that is no message at all (C07)
	DropBroken      Drop = "broken"           // a message that cannot be read (R5)
	DropProgress    Drop = "progress"         // unknown token, not rising, after the answer (W20.3)
	DropMailbox     Drop = "mailbox_full"     // a call's notifications over the bound
	DropUnsolicited Drop = "unsolicited_full" // other notifications over the bound
	DropReverse     Drop = "reverse_full"     // a request of the server over the bound; it was told
	DropReply       Drop = "reply"            // an answer of ours that the server does not take
	DropCancel      Drop = "cancel"           // a cancel of ours that could not be sent
)

// Hooks observe a Peer. Nil members are skipped. They are called on the
// reader's goroutine and must not block.
type Hooks struct {
	// Dropped counts what was thrown away.
	Dropped func(Drop)
	// Noise shows the beginning of a line that is no message, as printable
	// text of bounded length (R5).
	Noise func(excerpt string)
	// StringID counts answers that spell our integer id as a string (R6).
	StringID func()
	// Panicked is a panic of the Handler, or of a link that a message takes on
	// a goroutine of the Peer. A request of the server was refused for it, and
	// what else it was about is lost.
	Panicked func(value any, stack []byte)
}

func (h *Hooks) dropped(d Drop) {
	if h.Dropped != nil {
		h.Dropped(d)
	}
}
