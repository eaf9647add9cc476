// Package salvage reads what it can out of a JSON-RPC message that is broken
// or too long to keep, so that the request it belongs to fails at once instead
// of waiting for its deadline (R5, P8).
//
// It never decides that a message is good: a strict scanner has refused it
// before anybody comes here. It knows no method and keeps no bytes but the id.
package salvage

// Bounds on what is remembered of one message.
const (
	maxKey = 8  // longest member name of interest is "result"
	maxID  = 72 // an id of our own has at most 20 digits and two quotes
)

// Peek is what could be read. The zero value means nothing.
type Peek struct {
	// ID is the JSON text of the top-level id, a number or a string, or empty.
	ID string
	// Object says that the message began as a JSON object, so that it was
	// meant to be a message and is not a line of talk.
	Object bool
	// Method says that there is a top-level method: a request or notification,
	// never an answer.
	Method bool
}

// Bytes scans a whole broken message.
func Bytes(b []byte) Peek {
	var s Scanner
	s.Write(b)
	return s.Peek()
}

// Scanner does the same in pieces of any size, in constant memory. The zero
// value is ready. It is not safe for concurrent use.
type Scanner struct {
	peek    Peek
	started bool
	other   bool // root is no object: nothing more to learn
	depth   int
	str     bool // inside a string
	esc     bool // after a backslash
	key     bool // the next string at depth 1 is a member name
	inKey   bool
	name    []byte
	value   bool // inside the value of a top-level id
	id      []byte
	tooLong bool
}

// Write consumes the next piece. It never fails.
func (s *Scanner) Write(b []byte) (int, error) {
	for i := 0; i < len(b) && !s.other; i++ {
		s.step(b[i])
	}
	return len(b), nil
}

// Peek returns what was read so far.
func (s *Scanner) Peek() Peek { return s.peek }

func (s *Scanner) step(c byte) {
	if !s.started {
		s.start(c)
		return
	}
	if s.str {
		s.inString(c)
		return
	}
	if s.value && s.depth == 1 && (c == ',' || c == '}' || isSpace(c)) {
		s.endValue()
	}
	switch c {
	case '"':
		s.str = true
		s.inKey = s.key && s.depth == 1
		s.name = s.name[:0]
		s.keep(c)
	case '{', '[':
		s.depth++
		s.value = false
	case '}', ']':
		if s.depth--; s.depth <= 0 {
			s.other = true
		}
	case ',':
		s.key = s.depth == 1 || s.key
	case ':':
		if s.depth == 1 && s.key {
			s.key = false
			s.member()
		}
	default:
		s.keep(c)
	}
}

func (s *Scanner) start(c byte) {
	if isSpace(c) {
		return
	}
	s.started = true
	if c != '{' {
		s.other = true
		return
	}
	s.peek.Object = true
	s.depth, s.key = 1, true
}

func (s *Scanner) inString(c byte) {
	s.keep(c)
	switch {
	case s.esc:
		s.esc = false
	case c == '\\':
		s.esc = true
	case c == '"':
		s.str, s.inKey = false, false
		return
	}
	if s.inKey && len(s.name) < maxKey {
		s.name = append(s.name, c)
	}
}

func (s *Scanner) member() {
	switch string(s.name) {
	case "method":
		s.peek.Method = true
	case "id":
		s.value, s.tooLong = true, false
		s.id = s.id[:0]
	}
}

// keep appends to the id that is being read.
func (s *Scanner) keep(c byte) {
	if !s.value || isSpace(c) && !s.str {
		return
	}
	if len(s.id) == maxID {
		s.tooLong = true
		return
	}
	s.id = append(s.id, c)
}

func (s *Scanner) endValue() {
	if len(s.id) == 0 {
		return // whitespace before the value
	}
	s.value = false
	if s.tooLong || !idLike(s.id) {
		return
	}
	s.peek.ID = string(s.id)
}

// idLike accepts integers and closed strings without escapes.
func idLike(b []byte) bool {
	if b[0] == '"' {
		return len(b) >= 2 && b[len(b)-1] == '"'
	}
	if b[0] == '-' {
		b = b[1:]
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
