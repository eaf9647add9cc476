package server

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// A cursor says after which item the next page begins, for one method and one
// principal, sealed: nobody else can use it and nothing can be read from it
// (W22.2). Items may come and go between pages; none is given twice and none
// that stays is left out.

// maxCursorKey is how much of a key a cursor carries. Of a longer one it
// carries a digest as well, and dies with the item.
const maxCursorKey = 512

func (s *Server) sealCursor(method, principal, key string) (string, error) {
	return s.keys.Seal(seal.PurposeCursor, cursorText(method, principal, key))
}

func cursorText(method, principal, key string) []byte {
	owner := sha256.Sum256(binary.AppendUvarint([]byte(method+"\x00"+principal), uint64(len(principal))))
	b := append([]byte{1}, owner[:16]...)
	if len(key) <= maxCursorKey {
		return append(append(b, 0), key...)
	}
	digest := sha256.Sum256([]byte(key))
	return append(append(append(b, 1), digest[:16]...), key[:maxCursorKey]...)
}

// position opens a cursor and finds the key that it names.
func position[T any](s *Server, x *dispatch.Exchange, items []item[T], cursor string) (string, *jsonrpc.Error) {
	bad := jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "the cursor is not valid")
	plain, err := s.keys.Open(seal.PurposeCursor, cursor)
	if err != nil || len(plain) < 18 {
		return "", bad
	}
	if plain[17] == 0 {
		key := string(plain[18:])
		if string(cursorText(x.Msg.Method, x.Principal(), key)) != string(plain) {
			return "", bad
		}
		return key, nil
	}
	if len(plain) != 34+maxCursorKey {
		return "", bad
	}
	for _, it := range after(items, string(plain[34:])) {
		if len(it.key) <= maxCursorKey || it.key[:maxCursorKey] != string(plain[34:]) {
			break
		}
		if string(cursorText(x.Msg.Method, x.Principal(), it.key)) == string(plain) {
			return it.key, nil
		}
	}
	return "", bad
}

// page writes one page of a list: the items that show themselves, as raw JSON,
// under a name.
func page[T any](s *Server, x *dispatch.Exchange, kind Kind, name string, r *registry[T], own func(*T) func(Caller) bool, show func(*T) []byte) dispatch.Outcome {
	items := r.all()
	if raw, ok := strictjson.Get(x.Msg.Params, "cursor"); ok && !strictjson.IsNull(raw) {
		cursor, isText := strictjson.String(raw)
		if !isText {
			return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "the cursor is not valid"))
		}
		key, bad := position(s, x, items, cursor)
		if bad != nil {
			return dispatch.Fail(bad)
		}
		items = after(items, key)
	}
	who := callerOf(x)
	b := append(strictjson.Quote([]byte{'{'}, name), ":["...)
	shown, last := 0, ""
	for _, it := range items {
		if !s.sees(who, kind, it.key, own(it.value)) {
			continue
		}
		raw := show(it.value)
		if raw == nil {
			continue
		}
		if shown == s.opt.PageSize { // there is one more
			next, err := s.sealCursor(x.Msg.Method, x.Principal(), last)
			if err != nil {
				s.opt.Logger.Error("sealing a cursor", "error", err)
				return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInternal, "internal error"))
			}
			b = strictjson.Quote(append(b, `],"nextCursor":`...), next)
			return dispatch.Result(append(b, '}'))
		}
		if shown > 0 {
			b = append(b, ',')
		}
		b = append(b, raw...)
		shown, last = shown+1, it.key
	}
	return dispatch.Result(append(b, "]}"...))
}
