package strictjson

import (
	"bytes"
	"hash/maphash"

	"github.com/go-json-experiment/json/jsontext"
)

// nameSet holds the member names of all objects that are open, innermost last.
// The names of a small object are compared one by one; those of a larger one
// are also in a table with open addressing and linear probing. Objects end in
// the reverse order of their beginning, and taking entries out in reverse
// order of insertion leaves linear probing exactly as it was before, so no
// tombstones are needed.
//
// Its size is bounded by MaxDepth × MaxMembers names from clients; from
// workloads by the names of at most four objects.
type nameSet struct {
	seed    maphash.Seed
	entries []nameEntry
	tabled  int      // how many entries are in slots
	slots   []uint32 // index into entries plus one; 0 is free
	scratch [2][]byte
}

type nameEntry struct {
	hash    uint64
	offset  int // of the raw name in the text
	length  int
	slot    uint32
	inTable bool
	escaped bool
}

const (
	// smallObject is how many names are compared one by one.
	smallObject = 8
	// keepSlots is the largest table that goes back to the pool.
	keepSlots = 1 << 13
)

func (s *nameSet) len() int { return len(s.entries) }

func (s *nameSet) release() {
	s.truncate(0)
	if len(s.slots) > keepSlots {
		s.slots, s.entries = nil, nil
	}
}

// truncate forgets the entries from n on.
func (s *nameSet) truncate(n int) {
	for i := len(s.entries) - 1; i >= n; i-- {
		if e := &s.entries[i]; e.inTable {
			s.slots[e.slot] = 0
			s.tabled--
		}
	}
	s.entries = s.entries[:n]
}

// add inserts the raw name data[offset:offset+length] and reports false when
// the object whose entries begin at mark already has it. Names are compared
// decoded. Two different unpaired surrogates decode to the same replacement
// character and count as equal: other parsers may see them so.
func (s *nameSet) add(data []byte, offset, length, mark int) bool {
	e := nameEntry{offset: offset, length: length}
	e.escaped = bytes.IndexByte(data[offset:offset+length], '\\') >= 0
	if n := len(s.entries) - mark; n < smallObject {
		for i := mark; i < len(s.entries); i++ {
			if s.equal(data, &s.entries[i], &e) {
				return false
			}
		}
		s.entries = append(s.entries, e)
		return true
	} else if n == smallObject {
		for i := mark; i < len(s.entries); i++ {
			s.table(data, i, mark)
		}
	}
	s.entries = append(s.entries, e)
	return s.table(data, len(s.entries)-1, mark)
}

func (s *nameSet) equal(data []byte, a, b *nameEntry) bool {
	if !a.escaped && !b.escaped {
		return a.length == b.length && string(data[a.offset:a.offset+a.length]) == string(data[b.offset:b.offset+b.length])
	}
	return bytes.Equal(unquote(data[a.offset:a.offset+a.length], &s.scratch[0]), unquote(data[b.offset:b.offset+b.length], &s.scratch[1]))
}

// table puts entry at into the table, unless an equal one of the object that
// begins at mark is there: then it reports false.
func (s *nameSet) table(data []byte, at, mark int) bool {
	if 2*(s.tabled+1) > len(s.slots) {
		s.grow()
	}
	e := &s.entries[at]
	name := data[e.offset+1 : e.offset+e.length-1]
	if e.escaped {
		name = unquote(data[e.offset:e.offset+e.length], &s.scratch[0])
	}
	// Equal names of different objects must not collide: mix in the object.
	e.hash = maphash.Bytes(s.seed, name) ^ (uint64(mark+1) * 0x9e3779b97f4a7c15)
	mask := uint32(len(s.slots) - 1)
	slot := uint32(e.hash) & mask
	for ; s.slots[slot] != 0; slot = (slot + 1) & mask {
		i := int(s.slots[slot] - 1)
		if other := &s.entries[i]; other.hash == e.hash && i >= mark && s.equal(data, other, e) {
			return false
		}
	}
	s.slots[slot] = uint32(at + 1)
	e.slot, e.inTable = slot, true
	s.tabled++
	return true
}

// grow doubles the table and inserts everything again in order.
func (s *nameSet) grow() {
	s.slots = make([]uint32, max(64, 2*len(s.slots)))
	mask := uint32(len(s.slots) - 1)
	for i := range s.entries {
		if !s.entries[i].inTable {
			continue
		}
		slot := uint32(s.entries[i].hash) & mask
		for s.slots[slot] != 0 {
			slot = (slot + 1) & mask
		}
		s.slots[slot] = uint32(i + 1)
		s.entries[i].slot = slot
	}
}

// unquote gives the decoded text of a raw JSON string. Without escapes it
// aliases raw, otherwise it is written to scratch.
func unquote(raw []byte, scratch *[]byte) []byte {
	if len(raw) < 2 {
		return nil
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	// An error here means an unpaired surrogate, replaced by U+FFFD.
	*scratch, _ = jsontext.AppendUnquote((*scratch)[:0], raw)
	return *scratch
}

// nameIs compares a raw JSON string with decoded text, without allocating for
// strings that hold no escape.
func nameIs(raw []byte, text string) bool {
	if len(raw) == len(text)+2 && bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1:len(raw)-1]) == text
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return false
	}
	decoded, _ := jsontext.AppendUnquote(nil, raw)
	return string(decoded) == text
}
