package upstream

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Caller makes requests: a peer.Peer.
type Caller interface {
	Call(ctx context.Context, r peer.Request) (peer.Answer, error)
}

// ErrNotModern: the answer to server/discover is none of the modern era's.
// Whether the workload is of the legacy era its initialize tells (B1.3).
var ErrNotModern = errors.New("the workload knows no server/discover")

// ErrNoRevision: the workload is of the modern era, and there is no revision
// that it and we speak, or it refuses our probe.
var ErrNoRevision = errors.New("no protocol revision in common with the workload")

// Discover asks a workload who it is, as the modern era does (B1.2). Errors:
// ErrNotModern, ErrNoRevision, and those of Call that say nothing about the era
// (NoEvidence).
func Discover(ctx context.Context, c Caller) (*Discovered, error) {
	revision := mcp.Modern()[0]
	answer, err := c.Call(ctx, peer.Request{Method: mcp.MethodDiscover, Params: DiscoverParams(revision), Revision: revision})
	switch {
	case err == nil && answer.Err == nil:
		return readDiscovered(answer.Result, revision)
	case err == nil:
		return nil, refusedProbe(answer)
	case NoEvidence(ctx, err):
		return nil, err
	}
	return nil, fmt.Errorf("%w: %w", ErrNotModern, err)
}

// DiscoverParams are those of our own server/discover (B1.2).
func DiscoverParams(revision string) []byte {
	return []byte(`{"_meta":{"` + mcp.MetaProtocolVersion + `":"` + revision + `","` + mcp.MetaClientInfo + `":` + ClientInfo +
		`,"` + mcp.MetaClientCapabilities + `":{}}}`)
}

// NoEvidence reports whether a failure of the probe says nothing about the
// workload's era, so that it has to be asked again (B1.2): 401, 403, 429, 5xx,
// nobody there, a connection that broke, our own impatience.
func NoEvidence(ctx context.Context, err error) bool {
	var f *peer.Failure
	if !errors.As(err, &f) || ctx.Err() != nil {
		return true
	}
	switch f.Reason {
	case peer.Status:
		return f.Status == http.StatusTooManyRequests || f.Status >= 500 || f.Status < 400
	case peer.BadResponse, peer.SessionGone, peer.TooLarge:
		return false
	}
	return true
}

// refusedProbe reads an error in answer to the probe.
func refusedProbe(answer peer.Answer) error {
	switch answer.Err.Code {
	case mcp.CodeUnsupportedRevision:
		supported, _ := strictjson.Get(answer.Err.Data, "supported")
		if hasModern(supported) {
			// It names what it refuses, or one that we do not speak.
			return fmt.Errorf("%w: %w", ErrNoRevision, answer.Err)
		}
	case mcp.CodeHeaderMismatch, mcp.CodeMissingCapability:
		return fmt.Errorf("%w: %w", ErrNoRevision, answer.Err) // W5.16: modern, and our request is at fault
	}
	return fmt.Errorf("%w: %w", ErrNotModern, answer.Err)
}

func readDiscovered(raw []byte, revision string) (*Discovered, error) {
	versions, _ := strictjson.Get(raw, "supportedVersions")
	if !contains(versions, revision) {
		if hasModern(versions) {
			return nil, ErrNoRevision
		}
		return nil, ErrNotModern
	}
	d := &Discovered{Raw: raw, Revision: revision, Capabilities: []byte("{}")}
	if c, ok := strictjson.Get(raw, "capabilities"); ok && strictjson.IsObject(c) {
		d.Capabilities = c
	}
	info, _ := strictjson.GetPath(raw, "_meta", mcp.MetaServerInfo)
	if info == nil {
		info, _ = strictjson.Get(raw, "serverInfo") // where drafts had it (B1.6)
	}
	if strictjson.IsObject(info) {
		d.ServerInfo = info
	}
	if text, ok := strictjson.Get(raw, "instructions"); ok {
		if _, isString := strictjson.String(text); isString {
			d.Instructions = text
		}
	}
	name, _ := strictjson.Get(d.ServerInfo, "name")
	d.Name, _ = strictjson.String(name)
	version, _ := strictjson.Get(d.ServerInfo, "version")
	d.Version, _ = strictjson.String(version)
	return d, nil
}

func contains(array []byte, text string) (found bool) {
	strictjson.Elements(array, func(one []byte) bool {
		v, _ := strictjson.String(one)
		found = found || v == text
		return !found
	})
	return found
}

// hasModern reports whether a list of revisions names one of the modern era,
// be it one that we do not know.
func hasModern(array []byte) (found bool) {
	strictjson.Elements(array, func(one []byte) bool {
		v, _ := strictjson.String(one)
		found = found || mcp.ClaimsModern(v)
		return !found
	})
	return found
}

// Info is what /status tells of it.
func (d *Discovered) Info(era Era) Info {
	return Info{Era: era, Revision: d.Revision, Name: d.Name, Version: d.Version, Capabilities: d.Capabilities}
}
