package jsonrpc

// ID is a request id as its exact JSON text: `1`, `"1"`, `9007199254740993`.
// Equality is byte equality, so 1 and "1" differ (W1.5). The zero value means
// that there is no id. IDs are comparable and may be map keys.
type ID struct{ text string }

// RawID makes an ID from JSON text that is already known to be a legal id.
func RawID(text string) ID { return ID{text: text} }

// IsZero reports whether there is no id.
func (id ID) IsZero() bool { return id.text == "" }

// String returns the JSON text.
func (id ID) String() string { return id.text }
