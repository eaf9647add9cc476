package older

import (
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Sampled makes a client's answer to sampling fit a server of revision p, which
// may know only one block of content (B14.6). ok is false where that would lose
// something.
func Sampled(p mcp.Profile, result []byte) (out []byte, ok bool) {
	content, has := strictjson.Get(result, "content")
	if p.SamplingTools || !has || !strictjson.IsArray(content) {
		return result, true
	}
	var blocks [][]byte
	strictjson.Elements(content, func(one []byte) bool {
		blocks = append(blocks, one)
		return true
	})
	block, ok := single(blocks)
	if !ok {
		return nil, false
	}
	edits := []strictjson.Edit{strictjson.Set(block, "content")}
	if reason, _ := strictjson.Get(result, "stopReason"); string(reason) == `"toolUse"` {
		return nil, false // it has no tools there
	}
	out, err := strictjson.Splice(result, edits...)
	return out, err == nil
}

// single is the one block that says the same as several: itself, or the text of
// all.
func single(blocks [][]byte) ([]byte, bool) {
	kind := func(block []byte) string {
		raw, _ := strictjson.Get(block, "type")
		text, _ := strictjson.String(raw)
		return text
	}
	if len(blocks) == 1 && kind(blocks[0]) != "tool_use" && kind(blocks[0]) != "tool_result" {
		return blocks[0], true
	}
	var all []string
	for _, block := range blocks {
		raw, _ := strictjson.Get(block, "text")
		text, isText := strictjson.String(raw)
		if kind(block) != "text" || !isText {
			return nil, false
		}
		all = append(all, text)
	}
	if all == nil {
		return nil, false
	}
	return append(strictjson.Quote([]byte(`{"type":"text","text":`), strings.Join(all, "\n")), '}'), true
}
