package peer

import (
	"context"
	"errors"
	"fmt"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Init is a usable InitializeResult (W4.5). Fields are read-only.
type Init struct {
	// Raw is the result as it came.
	Raw []byte
	// Revision is what the server chose.
	Revision string
	// Capabilities is the raw object, `{}` when there is none.
	Capabilities []byte
	// ServerInfo is the raw object or nil; Name and Version are its words.
	ServerInfo    []byte
	Name, Version string
	// Instructions is the raw string or nil.
	Instructions []byte
}

// ErrUnusable: the server answered initialize, but not with something that we
// can go on with (B1.3).
var ErrUnusable = errors.New("unusable answer to initialize")

// Initialize makes the legacy handshake: initialize with raw params, then
// notifications/initialized (R9, W4.6). accept says whether a revision may be
// used; if not, nothing more is sent (W4.4). Errors: those of Call, the
// server's *jsonrpc.Error, or one that wraps ErrUnusable.
func (p *Peer) Initialize(ctx context.Context, params []byte, accept func(revision string) bool) (*Init, error) {
	answer, err := p.Call(ctx, Request{Method: "initialize", Params: params})
	if err != nil {
		return nil, err
	}
	if answer.Err != nil {
		return nil, answer.Err
	}
	in, err := readInit(answer.Result)
	if err != nil {
		return nil, err
	}
	if !accept(in.Revision) {
		return nil, fmt.Errorf("%w: protocol version %q", ErrUnusable, short(in.Revision))
	}
	p.negotiated(in.Revision)
	if n, ok := p.link.(Negotiator); ok {
		n.Negotiated(in.Revision)
	}
	if err := p.Notify(ctx, "notifications/initialized", nil); err != nil {
		return nil, err
	}
	return in, nil
}

func readInit(raw []byte) (*Init, error) {
	in := &Init{Raw: raw, Capabilities: []byte("{}")}
	ok := strictjson.Each(raw, func(name, value []byte) bool {
		switch string(name) {
		case "protocolVersion":
			in.Revision, _ = strictjson.String(value)
		case "capabilities":
			if strictjson.IsObject(value) {
				in.Capabilities = value
			}
		case "serverInfo":
			if strictjson.IsObject(value) {
				in.ServerInfo = value
			}
		case "instructions":
			if _, isString := strictjson.String(value); isString {
				in.Instructions = value
			}
		}
		return true
	})
	if !ok || in.Revision == "" {
		return nil, fmt.Errorf("%w: no protocolVersion in it", ErrUnusable)
	}
	name, _ := strictjson.Get(in.ServerInfo, "name")
	in.Name, _ = strictjson.String(name)
	version, _ := strictjson.Get(in.ServerInfo, "version")
	in.Version, _ = strictjson.String(version)
	return in, nil
}
