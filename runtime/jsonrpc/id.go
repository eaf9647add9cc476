package jsonrpc

import "github.com/fairlead-dev/fairlead/runtime/internal/broken"

// ID is a request id as its exact JSON text: `1`, `"1"`, `9007199254740993`.
// Equality is byte equality, so 1 and "1" differ (W1.5). The zero value means
// that there is no id. IDs are comparable and may be map keys.
type ID struct{ text string }

// RawID makes an ID from JSON text that is already known to be a legal id.
func RawID(text string) ID { return ID{text: text} }

// NullID is the id null, which only answers of 2024-11-05 to 2025-06-18 to
// requests that could not be read may carry (W1.8, P34).
func NullID() ID { return ID{text: "null"} }

// ParseID takes a raw JSON value as an id: a string or an integer of any size
// (W1.2). Integers are taken by spelling: 1.0 and 1e2 are refused, because a
// peer that re-spells them would not match them again.
func ParseID(raw []byte) (id ID, ok bool) {
	if !isID(raw) && !broken.Rule("W1.2") {
		return ID{}, false
	}
	return ID{text: string(raw)}, true
}

func isID(raw []byte) bool {
	if len(raw) == 0 {
		return false
	}
	if raw[0] == '"' {
		return len(raw) >= 2
	}
	digits := raw
	if digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) == 0 {
		return false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// IsZero reports whether there is no id.
func (id ID) IsZero() bool { return id.text == "" }

// IsString reports whether the id is a JSON string.
func (id ID) IsString() bool { return len(id.text) > 0 && id.text[0] == '"' }

// String returns the JSON text.
func (id ID) String() string { return id.text }
