package cardinality

import (
	"bytes"
	"errors"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Errors of the raw views. A message they are about is left as it was.
var (
	// ErrMany: several blocks where the receiver's revision has one, and none
	// may be lost (B14.6).
	ErrMany = errors.New("cardinality: several blocks where one must be")
	// ErrShape: the message is not what its place says, in a way that no
	// tolerance mends.
	ErrShape = errors.New("cardinality: not the shape of such a message")
)

// Items are the values of a member: the items of a list, a bare value alone,
// nothing for null and for what is absent. They alias raw.
func Items(raw []byte) (items [][]byte) {
	switch {
	case len(raw) == 0 || strictjson.IsNull(raw):
	case strictjson.IsArray(raw):
		strictjson.Elements(raw, func(item []byte) bool {
			items = append(items, item)
			return true
		})
	default:
		items = [][]byte{raw}
	}
	return items
}

// listOf writes items as a list.
func listOf(items [][]byte) []byte {
	out := append([]byte{'['}, bytes.Join(items, []byte{','})...)
	return append(out, ']')
}

// ToolResult makes content of a tools/call result a list, and of one that is
// missing what R8 says: empty, or the structured content as text. Embedded
// resources that came in lists are unpacked. changed tells whether there was
// anything to do; otherwise out is result itself.
func ToolResult(result []byte) (out []byte, changed bool, err error) {
	if !strictjson.IsObject(result) {
		return result, false, ErrShape
	}
	content, ok := strictjson.Get(result, "content")
	if !ok || strictjson.IsNull(content) {
		return set(result, "content", missing(result))
	}
	items, edited, err := blocks(Items(content))
	if err != nil || strictjson.IsArray(content) && !edited {
		return result, false, err
	}
	return set(result, "content", listOf(items))
}

// missing is the content of a result without.
func missing(result []byte) []byte {
	structured, ok := strictjson.Get(result, "structuredContent")
	if !ok || strictjson.IsNull(structured) {
		return []byte("[]")
	}
	return append(strictjson.Quote([]byte(`[{"type":"text","text":`), string(structured)), `}]`...)
}

// ReadResult makes contents of a resources/read result a list.
func ReadResult(result []byte) (out []byte, changed bool, err error) {
	if !strictjson.IsObject(result) {
		return result, false, ErrShape
	}
	contents, ok := strictjson.Get(result, "contents")
	if !ok || strictjson.IsArray(contents) {
		return result, false, nil
	}
	return set(result, "contents", listOf(Items(contents)))
}

// PromptResult makes messages of a prompts/get result a list, each with one
// block of content; several become consecutive messages of the same role.
func PromptResult(result []byte) (out []byte, changed bool, err error) {
	return conversation(result, false)
}

// SamplingRequest does the same to the params of sampling/createMessage; with
// lists, what the receiver reads as lists stays lists (W29.8, B14.6).
func SamplingRequest(params []byte, lists bool) (out []byte, changed bool, err error) {
	return conversation(params, lists)
}

// SamplingResult makes content of a sampling result one block, unless the
// receiver reads lists. Several blocks for one that does not are ErrMany
// (B14.6).
func SamplingResult(result []byte, lists bool) (out []byte, changed bool, err error) {
	if !strictjson.IsObject(result) {
		return result, false, ErrShape
	}
	content, ok := strictjson.Get(result, "content")
	if !ok || lists || !strictjson.IsArray(content) {
		return result, false, nil
	}
	items := Items(content)
	switch {
	case len(items) == 0:
		return result, false, ErrEmpty
	case len(items) == 1 && strictjson.IsArray(items[0]):
		return result, false, ErrShape
	case len(items) == 1:
		return set(result, "content", items[0])
	}
	return result, false, ErrMany
}

func set(object []byte, name string, value []byte) ([]byte, bool, error) {
	out, err := strictjson.Splice(object, strictjson.Set(value, name))
	if err != nil {
		return object, false, ErrShape
	}
	return out, true, nil
}
