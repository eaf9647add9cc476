package proxy

import (
	"bytes"
	"crypto/sha256"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// maxCursor bounds a cursor of the workload that is carried sealed, raw;
// maxSealedCursor is what that becomes.
const (
	maxCursor       = 16 << 10
	maxSealedCursor = maxCursor*4/3 + 256
)

// cursorOut seals the cursor of a page that a leg of one key gave: it is of use
// to nobody else, for no other list, and to no later life of the process
// (B11.12, B0.6). An empty one is told apart by itself (R2), and one that is
// too long to be carried ends the list.
func (p *Proxy) cursorOut(d *desk, x *dispatch.Exchange, result []byte) []strictjson.Edit {
	inner, ok := strictjson.Get(result, "nextCursor")
	if _, isText := strictjson.String(inner); !ok || !isText || string(inner) == `""` || p.cfg.Keys == nil {
		return nil
	}
	if len(inner) <= maxCursor {
		token, err := p.cfg.Keys.SealLong(seal.PurposeCursor, append(p.cursorHead(d, x), inner...), maxSealedCursor)
		if err == nil {
			return []strictjson.Edit{strictjson.Set(strictjson.Quote(nil, token), "nextCursor")}
		}
	}
	p.lossy(LossyCursor)
	return []strictjson.Edit{strictjson.Delete("nextCursor")}
}

// cursorIn puts the workload's own cursor in the place of the one that a client
// brings back.
func (p *Proxy) cursorIn(d *desk, x *dispatch.Exchange) ([]strictjson.Edit, *jsonrpc.Error) {
	raw, ok := strictjson.Get(x.Msg.Params, "cursor")
	if !ok || strictjson.IsNull(raw) || string(raw) == `""` || p.cfg.Keys == nil {
		return nil, nil
	}
	head := p.cursorHead(d, x)
	token, _ := strictjson.String(raw)
	plain, err := p.cfg.Keys.OpenLong(seal.PurposeCursor, token, maxSealedCursor)
	if err != nil || !bytes.HasPrefix(plain, head) {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "the cursor is not valid here")
	}
	return []strictjson.Edit{strictjson.Set(plain[len(head):], "cursor")}, nil
}

// cursorHead is what a cursor is bound to: this pod, the life of the leg, who
// asks, and the list.
func (p *Proxy) cursorHead(d *desk, x *dispatch.Exchange) []byte {
	sum := sha256.Sum256([]byte(p.cfg.Pod + "\x00" + d.life))
	return append(sum[:], mcp.Digest(x.Principal(), x.Msg.Method, nil)...)
}
