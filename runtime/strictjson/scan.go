package strictjson

import (
	"bytes"
	"errors"
	"hash/maphash"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

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
	return &scanner{reader: newReader(), names: nameSet{seed: maphash.MakeSeed()}}
}}

type scanner struct {
	reader
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
	inName  bool // the next token is a member name or the end
	unique  bool
	members int
	mark    int // names.entries before this object
}

func (s *scanner) release() {
	s.reader.reset(nil)
	clear(s.frames[:s.deepest])
	s.deepest = 0
	s.names.release()
	scanners.Put(s)
}

// run walks the tokens. depth counts the open frames.
func (s *scanner) run(data []byte, policy Policy, v Visitor) error {
	s.reader.reset(data)
	shallow := policy == FromWorkload && bytes.Count(data, []byte("{"))+bytes.Count(data, []byte("[")) <= MaxDepth
	depth, end := 0, 0
	for {
		var start int
		switch kind := peek(data, end); {
		case (kind == '{' || kind == '[') && !(shallow && s.passes(policy, depth)):
			if depth == MaxDepth {
				return &Error{Kind: ErrDepth, Offset: int64(end)}
			}
			if _, err := s.dec.ReadToken(); err != nil {
				return grammar(err)
			}
			end = int(s.dec.InputOffset())
			f := &s.frames[depth]
			*f = frame{start: end - 1, object: kind == '{', inName: kind == '{', mark: s.names.len()}
			f.unique = f.object && s.unique(policy, depth)
			depth++
			s.deepest = max(s.deepest, depth)
			continue
		case kind == '}' || kind == ']':
			if _, err := s.dec.ReadToken(); err != nil {
				return grammar(err)
			}
			end = int(s.dec.InputOffset())
			depth--
			s.names.truncate(s.frames[depth].mark)
			start = s.frames[depth].start
		default:
			raw, err := s.dec.ReadValue()
			if err != nil {
				return grammar(err)
			}
			end = int(s.dec.InputOffset())
			if depth > 0 && s.frames[depth-1].inName {
				if err := s.name(&s.frames[depth-1], raw, data, end, policy); err != nil {
					return err
				}
				continue
			}
			start = end - len(raw)
		}
		if depth == 0 {
			return atEnd(data, end)
		}
		if f := &s.frames[depth-1]; f.object {
			if v != nil && depth <= 2 && (depth == 1 || s.frames[0].object) {
				s.tell(v, depth, data[start:end:end])
			}
			f.inName = true
		}
	}
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

// passes reports whether nothing is looked for in an object or array that opens
// at depth: it is read in one go.
func (s *scanner) passes(policy Policy, depth int) bool {
	return depth >= 2 && !s.unique(policy, depth)
}

// name takes a member name of f, which ends at end.
func (s *scanner) name(f *frame, raw, data []byte, end int, policy Policy) error {
	f.name, f.inName = raw, false
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
	if end = skipSpace(data, end); end < len(data) {
		return &Error{Kind: ErrGrammar, Offset: int64(end), Detail: "text after the value"}
	}
	return nil
}

// peek returns the byte that the next token begins with. What it steps over is
// checked when the token is read.
func peek(data []byte, at int) byte {
	for ; at < len(data); at++ {
		switch c := data[at]; c {
		case ' ', '\t', '\r', '\n', ',', ':':
		default:
			return c
		}
	}
	return 0
}

// grammar turns a jsontext error into ours. Its own text is dropped because it
// quotes the input.
func grammar(err error) error {
	out := &Error{Kind: ErrGrammar}
	var syntactic *jsontext.SyntacticError
	switch {
	case errors.As(err, &syntactic):
		out.Offset = syntactic.ByteOffset
		if errors.Is(err, io.ErrUnexpectedEOF) {
			out.Detail = "unexpected end"
		}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		out.Detail = "unexpected end"
	}
	return out
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

// reader is a reusable token decoder over bytes that are already in memory.
type reader struct {
	buf bytes.Buffer
	dec *jsontext.Decoder
}

// lenient leaves uniqueness and UTF-8 to us (P8).
var lenient = jsontext.AllowInvalidUTF8(true)
var duplicates = jsontext.AllowDuplicateNames(true)

func newReader() reader { return reader{dec: new(jsontext.Decoder)} }

// reset points the decoder at data, which it reads in place: jsontext does not
// copy out of a bytes.Buffer.
func (r *reader) reset(data []byte) {
	r.buf = *bytes.NewBuffer(data)
	r.dec.Reset(&r.buf, lenient, duplicates)
}
