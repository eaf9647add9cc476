// Package envelope reads what a client's message says about itself, the same
// for every transport: what it may not say (P14), the metadata of a stateless
// request (W6), and what initialize introduces. It must not know how messages
// travel.
package envelope

import (
	"bytes"
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Bounds of what is kept from initialize.
const (
	maxCapabilities = 32 << 10
	maxClientInfo   = 2 << 10
)

// Parse reads one message of a client, without the _meta keys that it may not
// set. The error is a *jsonrpc.ParseError.
func Parse(raw []byte) (*jsonrpc.Message, error) {
	m, err := jsonrpc.Parse(raw, strictjson.FromClient)
	if err != nil {
		return nil, err
	}
	return Clean(m)
}

// Clean removes the _meta keys that a client may not set (P14).
func Clean(m *jsonrpc.Message) (*jsonrpc.Message, error) {
	if m.Kind == jsonrpc.KindResponse {
		return m, nil
	}
	raw, err := mcp.StripClientMeta(m.Raw, m.Meta)
	if err != nil {
		return nil, &jsonrpc.ParseError{Code: jsonrpc.CodeInvalidRequest, Message: "message refused", ID: m.ID}
	}
	if len(raw) == len(m.Raw) {
		return m, nil
	}
	return jsonrpc.Parse(raw, strictjson.FromClient)
}

// Modern is the metadata of a stateless request.
type Modern struct {
	Profile mcp.Profile
	// Capabilities is a raw object; Info is one or nil (W6.7).
	Capabilities, Info []byte
}

// Claimed returns the raw version that a message says it is of; ok is false
// for messages of the revisions with a handshake.
func Claimed(m *jsonrpc.Message) (claimed []byte, ok bool) {
	return strictjson.Get(m.Meta, mcp.MetaProtocolVersion)
}

// Revision is the text of a claimed version.
func Revision(claimed []byte) (string, *jsonrpc.Error) {
	revision, ok := strictjson.String(claimed)
	if !ok {
		return "", bad(mcp.MetaProtocolVersion + " must be a string")
	}
	return revision, nil
}

// Supported finds the stateless revision that a request claims among those that
// are served on the binding, or refuses it and names the ones to choose from:
// the stateless ones, so that the client cannot loop (B2.2), or where there are
// none those with a handshake.
func Supported(revision string, offer mcp.Offer, b mcp.Binding) (mcp.Profile, *jsonrpc.Error) {
	p, ok := offer.Lookup(revision)
	if ok && !p.Handshake && p.On(b).Served {
		return p, nil
	}
	return mcp.Profile{}, Unsupported(revision, Offered(offer, b))
}

// Offered are the revisions that a client which chose wrongly may choose from.
func Offered(offer mcp.Offer, b mcp.Binding) []string {
	served := func(all []string) (out []string) {
		for _, revision := range all {
			if p, _ := mcp.Lookup(revision); p.On(b).Served {
				out = append(out, revision)
			}
		}
		return out
	}
	if out := served(offer.Modern()); out != nil {
		return out
	}
	return served(offer.Legacy())
}

// Unsupported refuses a revision and names the ones to choose from.
func Unsupported(revision string, offered []string) *jsonrpc.Error {
	data := []byte(`{"supported":[`)
	for i, one := range offered {
		if i > 0 {
			data = append(data, ',')
		}
		data = strictjson.Quote(data, one)
	}
	data = append(data, `],"requested":`...)
	return &jsonrpc.Error{
		Code: mcp.CodeUnsupportedRevision, Message: "protocol version is not supported",
		Data: append(strictjson.Quote(data, revision), '}'),
	}
}

// Missing refuses a request that should carry an envelope and does not.
func Missing() *jsonrpc.Error {
	return bad("params._meta lacks " + mcp.MetaProtocolVersion + " and " + mcp.MetaClientCapabilities)
}

// Rest checks what else a stateless request must carry (W6.5, W6.6); clientInfo
// may be missing (W6.7).
func Rest(m *jsonrpc.Message, p mcp.Profile) (Modern, *jsonrpc.Error) {
	out := Modern{Profile: p}
	var ok bool
	if out.Capabilities, ok = strictjson.Get(m.Meta, mcp.MetaClientCapabilities); !ok {
		return out, bad("_meta lacks " + mcp.MetaClientCapabilities)
	}
	if !strictjson.IsObject(out.Capabilities) {
		return out, bad(mcp.MetaClientCapabilities + " must be an object")
	}
	if out.Info, ok = strictjson.Get(m.Meta, mcp.MetaClientInfo); ok && !strictjson.IsObject(out.Info) {
		return out, bad(mcp.MetaClientInfo + " must be an object")
	}
	return out, nil
}

// LogLevel refuses a log level that there is not (W23.8).
func LogLevel(m *jsonrpc.Message) *jsonrpc.Error {
	raw, given := strictjson.Get(m.Meta, mcp.MetaLogLevel)
	if !given {
		return nil
	}
	if level, _ := strictjson.String(raw); !mcp.LogLevel(level) {
		return bad("unknown log level")
	}
	return nil
}

// Hello is what initialize says about a client. The slices are copies.
type Hello struct {
	// Profile is what is agreed on: never a revision without handshake (W4.3).
	Profile            mcp.Profile
	Capabilities, Info []byte
}

// Handshake reads the params of initialize. Where no revision with a handshake
// is served the error names those that are (W4.16).
func Handshake(params []byte, offer mcp.Offer, b mcp.Binding) (Hello, *jsonrpc.Error) {
	requested, _ := strictjson.Get(params, "protocolVersion")
	text, _ := strictjson.String(requested)
	profile, ok := offer.Negotiate(text)
	if !ok || !profile.On(b).Served {
		return Hello{}, Unsupported(text, Offered(offer, b))
	}
	capabilities, info, err := Introduction(params)
	return Hello{Profile: profile, Capabilities: capabilities, Info: info}, err
}

// Introduction is what the params of initialize say about the client, within
// bounds; copies.
func Introduction(params []byte) (capabilities, info []byte, _ *jsonrpc.Error) {
	capabilities, given := strictjson.Get(params, "capabilities")
	if given && !strictjson.IsObject(capabilities) || len(capabilities) > maxCapabilities {
		return nil, nil, bad("capabilities must be an object of at most 32 KiB")
	}
	return bytes.Clone(capabilities), clientInfo(params), nil
}

// clientInfo keeps the client's identity, or only its name and version when it
// is long (icons may be data URIs).
func clientInfo(params []byte) []byte {
	info, ok := strictjson.Get(params, "clientInfo")
	if !ok || !strictjson.IsObject(info) {
		return nil
	}
	if len(info) <= maxClientInfo {
		return bytes.Clone(info)
	}
	out := strictjson.Quote([]byte(`{"name":`), short(info, "name"))
	out = append(out, `,"version":`...)
	return append(strictjson.Quote(out, short(info, "version")), '}')
}

func short(info []byte, name string) string {
	raw, _ := strictjson.Get(info, name)
	text, _ := strictjson.String(raw)
	return strings.ToValidUTF8(text[:min(len(text), 64)], "")
}

func bad(text string) *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: text}
}
