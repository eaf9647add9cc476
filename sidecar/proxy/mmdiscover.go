package proxy

import (
	"context"
	"crypto/sha256"
	"strconv"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// Bounds of the answers to server/discover that are kept.
const (
	maxDiscovered = 256
	maxFresh      = time.Hour
)

// discovery keeps answers to server/discover for as long and for whom the
// workload says (W34.2–34.4). The zero value is ready.
type discovery struct {
	mu   sync.Mutex
	kept map[discoveryKey]discoveryEntry
}

// discoveryKey is whose it is, "" where it is public, and what was asked.
type discoveryKey struct {
	private bool
	who     string
	asked   [sha256.Size]byte
}

type discoveryEntry struct {
	raw   []byte
	until time.Time
}

// get finds a fresh answer and how long it still is, in ms.
func (d *discovery) get(who string, asked [sha256.Size]byte) (raw []byte, left int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, key := range []discoveryKey{{false, "", asked}, {true, who, asked}} {
		if e, ok := d.kept[key]; ok {
			if ms := time.Until(e.until).Milliseconds(); ms > 0 {
				return e.raw, ms
			}
			delete(d.kept, key)
		}
	}
	return nil, 0
}

func (d *discovery) put(who string, asked [sha256.Size]byte, raw []byte) {
	ttl, _ := strictjson.Get(raw, "ttlMs")
	ms, err := strconv.ParseInt(string(ttl), 10, 64)
	if err != nil || ms <= 0 {
		return
	}
	scope, _ := strictjson.Get(raw, "cacheScope")
	key := discoveryKey{private: string(scope) != `"public"`, asked: asked}
	if key.private {
		key.who = who
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.kept == nil || len(d.kept) >= maxDiscovered {
		d.kept = map[discoveryKey]discoveryEntry{} // they are cheap to get again
	}
	d.kept[key] = discoveryEntry{raw, time.Now().Add(min(time.Duration(min(ms, maxFresh.Milliseconds()))*time.Millisecond, maxFresh))}
}

// mmDiscover asks the workload, unless it has been asked the same and the
// answer still holds. supportedVersions are ours: it is we who are asked (B4.4).
func (p *Proxy) mmDiscover(ctx context.Context, x *dispatch.Exchange, conv upstream.Conversation) dispatch.Outcome {
	asked := discoverKey(x.Msg.Params)
	raw, left := p.found.get(x.Principal(), asked)
	if raw == nil {
		o := p.mmAsk(ctx, x, conv)
		if o.Err != nil {
			return o
		}
		raw = o.Result
		p.found.put(x.Principal(), asked, raw)
	}
	edits := []strictjson.Edit{strictjson.Set(versions(x.Offer()), "supportedVersions")}
	if left > 0 {
		edits = append(edits, strictjson.Set(strconv.AppendInt(nil, left, 10), "ttlMs"))
	}
	out, err := strictjson.Splice(raw, edits...)
	if err != nil {
		return badResponse()
	}
	return dispatch.Result(out)
}

// discoverKey names what may make a difference to the answer: the params
// without who asks by name, which revision, and what belongs to one request.
func discoverKey(params []byte) [sha256.Size]byte {
	bare, err := strictjson.Splice(params,
		strictjson.Delete("_meta", mcp.MetaProtocolVersion),
		strictjson.Delete("_meta", mcp.MetaClientInfo),
		strictjson.Delete("_meta", mcp.MetaProgressToken),
		strictjson.Delete("_meta", "traceparent"),
		strictjson.Delete("_meta", "tracestate"),
	)
	if err != nil {
		bare = params
	}
	return sha256.Sum256(strictjson.Canonical(bare))
}

// versions is an offer as JSON, newest first.
func versions(offer mcp.Offer) []byte {
	b := []byte{'['}
	for i, revision := range offer.Revisions() {
		if i > 0 {
			b = append(b, ',')
		}
		b = strictjson.Quote(b, revision)
	}
	return append(b, ']')
}

// listenRequest makes a subscriptions/listen.
func listenRequest(params []byte, h peer.Handler) peer.Request {
	return peer.Request{Method: mcp.MethodListen, Params: params, Value: h}
}
