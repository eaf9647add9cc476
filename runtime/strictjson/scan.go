package strictjson

import (
	"bytes"
	"hash/maphash"
	"sync"
	"unicode/utf8"

	"github.com/fairlead-dev/fairlead/runtime/internal/broken"
)

// Visitor is told about members while a text is scanned: those of the
// outermost object (parent nil) and those of the objects directly in it
// (parent is that member's name). A member is told after its value was
// scanned, so inner ones come before their parent. Names are decoded and valid
// only during the call; value aliases the text.
type Visitor interface {
	Member(parent, name, value []byte)
}

// Scan checks one complete JSON text in a single pass (P8) and returns nil or
// an *Error. It allocates nothing that grows with the text beyond the member
// names of the objects that are open at one time.
func Scan(data []byte, policy Policy) error { return ScanVisit(data, policy, nil) }

// ScanVisit is Scan that shows the outer members to v on the way. What v was
// told before an error is returned must not be used.
func ScanVisit(data []byte, policy Policy, v Visitor) error {
	if !utf8.Valid(data) {
		return &Error{Kind: ErrGrammar, Offset: int64(invalidUTF8(data)), Detail: "not UTF-8"}
	}
	s := scanners.Get().(*scanner)
	err := s.run(data, policy, v)
	s.release()
	return err
}

var scanners = sync.Pool{New: func() any {
	return &scanner{names: nameSet{seed: maphash.MakeSeed()}}
}}

type scanner struct {
	names   nameSet
	scratch [2][]byte // decoded names that hold escapes, for the visitor
	frames  [MaxDepth]frame
	deepest int // frames used, to be cleared
}

// frame is an object or array that is open.
type frame struct {
	start   int    // offset of its opening brace or bracket
	name    []byte // the raw name of the member being read, objects only
	object  bool
	unique  bool
	members int
	mark    int // names.entries before this object
}

func (s *scanner) release() {
	clear(s.frames[:s.deepest])
	s.deepest = 0
	s.names.release()
	scanners.Put(s)
}

// run walks the values. depth counts the open frames.
func (s *scanner) run(data []byte, policy Policy, v Visitor) error {
	depth, at := 0, skipSpace(data, 0)
	for {
		// A value begins here, after the name of its member if it has one.
		start := at
		kind := byteAt(data, at)
		if kind == '{' || kind == '[' {
			if depth == MaxDepth {
				return &Error{Kind: ErrDepth, Offset: int64(at)}
			}
			f := &s.frames[depth]
			*f = frame{start: at, object: kind == '{', mark: s.names.len()}
			f.unique = f.object && s.unique(policy, depth)
			depth++
			s.deepest = max(s.deepest, depth)
			at = skipSpace(data, at+1)
			if c := byteAt(data, at); c != kind+2 { // '}' and ']' are that
				if !f.object {
					continue
				}
				var err error
				if at, err = s.member(f, data, at, policy); err != nil {
					return err
				}
				continue
			}
		} else {
			end, ok := scalar(data, at)
			if !ok {
				return ungrammatical(data, end)
			}
			at = end
		}
		var err error
		if depth, at, err = s.ended(data, start, at, depth, v); err != nil {
			return err
		}
		if depth == 0 {
			return atEnd(data, at)
		}
		if f := &s.frames[depth-1]; f.object {
			if at, err = s.member(f, data, at, policy); err != nil {
				return err
			}
		}
	}
}

// ended takes the value that began at start and ends at at or, when it is empty
// and open, has its last byte there, and whatever ends with it. Another value or
// member has to begin at next, unless nothing is open any more.
func (s *scanner) ended(data []byte, start, at, open int, v Visitor) (depth, next int, err error) {
	depth = open
	for closes := depth > 0 && s.frames[depth-1].start == start; ; closes = true {
		if closes {
			depth--
			s.names.truncate(s.frames[depth].mark)
			start = s.frames[depth].start
			at++
		}
		if depth == 0 {
			return 0, at, nil
		}
		f := &s.frames[depth-1]
		if f.object && v != nil && depth <= 2 && (depth == 1 || s.frames[0].object) {
			s.tell(v, depth, data[start:at:at])
		}
		at = skipSpace(data, at)
		switch c := byteAt(data, at); {
		case c == ',':
			return depth, skipSpace(data, at+1), nil
		case c == '}' && f.object, c == ']' && !f.object:
		default:
			return depth, at, ungrammatical(data, at)
		}
	}
}

// member reads the name of a member of f that begins at at, and the colon; the
// value begins at next.
func (s *scanner) member(f *frame, data []byte, at int, policy Policy) (next int, err error) {
	if byteAt(data, at) != '"' {
		return at, ungrammatical(data, at)
	}
	end, ok := text(data, at)
	if !ok {
		return at, ungrammatical(data, end)
	}
	if err := s.name(f, data[at:end], data, end, policy); err != nil {
		return at, err
	}
	if at = skipSpace(data, end); byteAt(data, at) != ':' {
		return at, ungrammatical(data, at)
	}
	return skipSpace(data, at+1), nil
}

// unique reports whether the object that opens at depth must not repeat a
// name.
func (s *scanner) unique(policy Policy, depth int) bool {
	if policy == FromClient || depth <= 1 {
		return true
	}
	if depth != 2 || !s.frames[1].object {
		return false
	}
	name := s.frames[1].name
	return nameIs(name, "_meta") || nameIs(name, "inputRequests")
}

// name takes a member name of f, which ends at end.
func (s *scanner) name(f *frame, raw, data []byte, end int, policy Policy) error {
	f.name = raw
	f.members++
	if policy == FromClient && f.members > MaxMembers {
		return &Error{Kind: ErrMembers, Offset: int64(end)}
	}
	if f.unique && !broken.Rule("P8") && !s.names.add(data, end-len(raw), len(raw), f.mark) {
		return &Error{Kind: ErrDuplicate, Offset: int64(end - len(raw))}
	}
	return nil
}

// tell shows the member that just ended at depth to the visitor.
func (s *scanner) tell(v Visitor, depth int, value []byte) {
	var parent []byte
	if depth == 2 {
		parent = unquote(s.frames[0].name, &s.scratch[0])
	}
	v.Member(parent, unquote(s.frames[depth-1].name, &s.scratch[1]), value)
}

// atEnd checks that nothing but whitespace follows the value.
func atEnd(data []byte, end int) error {
	if rest := bytes.TrimLeft(data[end:], space); len(rest) > 0 {
		return &Error{Kind: ErrGrammar, Offset: int64(len(data) - len(rest)), Detail: "text after the value"}
	}
	return nil
}

func invalidUTF8(data []byte) int {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(data)
}
