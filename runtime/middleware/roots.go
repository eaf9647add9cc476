package middleware

import (
	"bytes"
	"context"
	"net/url"
	"path"
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Roots are the directories that AllowedRoots keeps messages in: absolute
// slash-separated paths, or file: URIs.
type Roots struct {
	// Allowed are the directories. With none, nothing is allowed.
	Allowed []string
	// Arguments names for each tool the arguments that hold paths or file:
	// URIs, as a string or an array of strings.
	Arguments map[string][]string
}

// AllowedRoots refuses requests for files outside some directories: the uri of
// resources/read and of subscriptions where its scheme is file, and the
// arguments of tools that are named as paths. In the client's answers to
// roots/list, and where answers come with the next request (inputResponses), it
// leaves the roots inside those directories and takes the others out. It stands
// in a server's Receive stack.
//
// Paths are compared by their letters, after percent-decoding and with "." and
// ".." worked out; a relative path is refused. Links in the file system are not
// followed: whoever opens the files does it through an os.Root.
func AllowedRoots(r Roots) Middleware {
	var allowed []string
	for _, root := range r.Allowed {
		if dir, ok := filePath(root); ok {
			allowed = append(allowed, dir)
		}
	}
	g := fence{allowed: allowed, arguments: r.Arguments}
	return func(next Handler) Handler {
		return func(ctx context.Context, m *Message) jsonrpc.Outcome {
			switch {
			case m.Kind == jsonrpc.KindRequest && g.crossed(m):
				return jsonrpc.Fail(jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "the path is outside of the allowed roots").WithReason(mcp.ReasonOutsideRoots))
			case m.Kind == jsonrpc.KindResponse && m.Method == mcp.MethodRootsList && m.Err == nil:
				m.Result = g.within(m.Result)
			case m.Kind == jsonrpc.KindRequest:
				m.Params = g.answered(m.Params)
			}
			return next(ctx, m)
		}
	}
}

type fence struct {
	allowed   []string
	arguments map[string][]string
}

// crossed reports whether a request leads outside.
func (g *fence) crossed(m *Message) bool {
	switch m.Method {
	case mcp.MethodResourcesRead, mcp.MethodSubscribe:
		uri := textParam(m, "uri")
		return isFile(uri) && !g.allows(uri)
	case mcp.MethodListen:
		return g.any(member(m.Params, "notifications", "resourceSubscriptions"), true)
	case mcp.MethodToolsCall:
		for _, name := range g.arguments[textParam(m, "name")] {
			if g.any(member(m.Params, "arguments", name), false) {
				return true
			}
		}
	}
	return false
}

func member(object []byte, names ...string) []byte {
	raw, _ := strictjson.GetPath(object, names...)
	return raw
}

// any reports whether a string, or one of an array of strings, leads outside.
// What is something else is left to whoever checks types.
func (g *fence) any(raw []byte, filesOnly bool) (outside bool) {
	check := func(one []byte) bool {
		if text, ok := strictjson.String(one); ok && (!filesOnly || isFile(text)) && !g.allows(text) {
			outside = true
		}
		return !outside
	}
	if strictjson.IsArray(raw) {
		strictjson.Elements(raw, check)
	} else {
		check(raw)
	}
	return outside
}

func (g *fence) allows(name string) bool {
	at, ok := filePath(name)
	if !ok {
		return false
	}
	for _, dir := range g.allowed {
		if at == dir || dir == "/" || strings.HasPrefix(at, dir+"/") {
			return true
		}
	}
	return false
}

// within is a ListRootsResult with the roots inside only, each byte for byte.
func (g *fence) within(result []byte) []byte {
	kept := [][]byte{}
	strictjson.Elements(member(result, "roots"), func(root []byte) bool {
		raw, _ := strictjson.Get(root, "uri")
		if uri, ok := strictjson.String(raw); ok && g.allows(uri) {
			kept = append(kept, root)
		}
		return true
	})
	list := append([]byte{'['}, bytes.Join(kept, []byte{','})...)
	out, err := strictjson.Splice(result, strictjson.Set(append(list, ']'), "roots"))
	if err != nil {
		return []byte(`{"roots":[]}`)
	}
	return out
}

// answered is params with the roots among its inputResponses fenced.
func (g *fence) answered(params []byte) []byte {
	responses, ok := strictjson.Get(params, "inputResponses")
	if !ok {
		return params
	}
	var edits []strictjson.Edit
	strictjson.Each(responses, func(key, value []byte) bool {
		if strictjson.IsArray(member(value, "roots")) {
			edits = append(edits, strictjson.Set(g.within(value), "inputResponses", string(key)))
		}
		return true
	})
	if edits == nil {
		return params
	}
	out, err := strictjson.Splice(params, edits...)
	if err != nil {
		return []byte(`{}`) // never more than was checked
	}
	return out
}

func isFile(uri string) bool {
	const scheme = "file:"
	return len(uri) >= len(scheme) && strings.EqualFold(uri[:len(scheme)], scheme)
}

// filePath is the clean absolute path that a path or a file: URI names; false
// for relative ones, other hosts, and paths with a NUL.
func filePath(name string) (string, bool) {
	if isFile(name) {
		u, err := url.Parse(name)
		if err != nil || u.Opaque != "" || u.User != nil || u.Host != "" && !strings.EqualFold(u.Host, "localhost") {
			return "", false
		}
		name = u.Path
	}
	if !path.IsAbs(name) || strings.ContainsRune(name, 0) {
		return "", false
	}
	return path.Clean(name), true
}
