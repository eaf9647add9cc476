package proxy

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Bounds of a requestState that passes through (B9.1).
const (
	// stateLife is how long a client may take to come back with it: the
	// longest life of an exchange (B7.16).
	stateLife = 30 * time.Minute
	// maxState bounds the workload's own state, in bytes.
	maxState = 256 << 10
)

// maxSealed is what a state of maxState becomes: base64, digest and seal.
const maxSealed = maxState*4/3 + 256

// passed marks a state as one that passed through here, so that no other state
// that is sealed for the same purpose is taken for one.
const passed = 'p'

// errStateTooLong: the workload's state is more than we carry.
var errStateTooLong = errors.New("requestState is too long")

// badState is the one answer to a state that was changed, is too old, or is
// somebody else's or for another request (W32.7): nothing is asked anew.
func badState() *jsonrpc.Error {
	return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "requestState is not valid for this request")
}

// stateOf is the requestState that a client brings, where the protocol has one;
// null is none.
func stateOf(x *dispatch.Exchange) (raw []byte, ok bool) {
	if !bytes.Contains(x.Msg.Params, []byte(`requestState`)) {
		return nil, false // the usual case, without a scan
	}
	if m, known := x.Profile().Method(x.Msg.Method); !known || !m.InputRequired {
		return nil, false
	}
	raw, ok = strictjson.Get(x.Msg.Params, "requestState")
	return raw, ok && !strictjson.IsNull(raw)
}

// wrap seals the workload's state, raw JSON, for this request and nobody
// else's: the sidecar ends authentication, so the workload cannot bind whom it
// is for (B9.1, W32.8).
func (p *Proxy) wrap(x *dispatch.Exchange, inner []byte) ([]byte, error) {
	if len(inner) > maxState {
		return nil, errStateTooLong
	}
	plain := append(make([]byte, 0, len(inner)+sha256.Size+16), passed)
	plain = binary.BigEndian.AppendUint64(plain, uint64(time.Now().Add(stateLife).Unix()))
	plain = append(plain, mcp.Digest(x.Principal(), x.Msg.Method, x.Msg.Params)...)
	token, err := p.cfg.Keys.SealLong(seal.PurposeRequestState, append(plain, inner...), maxSealed)
	if err != nil {
		return nil, err
	}
	return strictjson.Quote(nil, token), nil
}

// unwrap opens what wrap made for this very request.
func (p *Proxy) unwrap(x *dispatch.Exchange, raw []byte) (inner []byte, ok bool) {
	token, isText := strictjson.String(raw)
	if !isText {
		return nil, false
	}
	plain, err := p.cfg.Keys.OpenLong(seal.PurposeRequestState, token, maxSealed)
	if err != nil || len(plain) < 1+8+sha256.Size || plain[0] != passed {
		return nil, false
	}
	expires := time.Unix(int64(binary.BigEndian.Uint64(plain[1:])), 0)
	rest := plain[9:]
	if time.Now().After(expires) || !bytes.Equal(rest[:sha256.Size], mcp.Digest(x.Principal(), x.Msg.Method, x.Msg.Params)) {
		return nil, false
	}
	return rest[sha256.Size:], true
}
