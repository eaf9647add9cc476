package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/fairlead-dev/fairlead/runtime/client/httpleg"
	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// maxAnswer bounds one message of the server, in bytes.
const maxAnswer = 64 << 20

// clientInfo is how the plugin introduces itself. It declares no capability:
// nobody sits at it to answer what a server may ask.
const clientInfo = `{"name":"kubectl-mcp","version":"1"}`

// dialMCP connects to an endpoint, stateless where the server can, with a
// session otherwise. A sidecar always can; the fallback keeps the plugin of
// use against one that is not of its own release.
func dialMCP(ctx context.Context, endpoint string) (session, error) {
	u, err := url.Parse(endpoint)
	if err != nil {
		return nil, err
	}
	modern, first := discover(ctx, u)
	if first == nil {
		return modern, nil
	}
	if peer.ReasonOf(first) == peer.Unreachable || ctx.Err() != nil {
		return nil, first
	}
	legacy, second := initialize(ctx, u)
	if second != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", mcp.MethodDiscover, first), fmt.Errorf("%s: %w", mcp.MethodInitialize, second))
	}
	return legacy, nil
}

// leg is a session over HTTP. modern is its stateless revision, or empty.
type leg struct {
	peer   *peer.Peer
	http   *httpleg.Leg
	modern string
	spoken string
}

func newLeg(u *url.URL) *leg {
	l := httpleg.New(httpleg.Config{
		URL: u, HTTP: &http.Client{Transport: &http.Transport{}}, MaxMessageBytes: maxAnswer,
	})
	return &leg{peer: peer.New(l, peer.Config{}), http: l}
}

func discover(ctx context.Context, u *url.URL) (*leg, error) {
	l := newLeg(u)
	l.modern = mcp.Modern()[0]
	l.spoken = l.modern
	raw, err := l.request(ctx, mcp.MethodDiscover, "", map[string]any{})
	if err == nil {
		var found struct {
			SupportedVersions []string `json:"supportedVersions"`
		}
		if err = json.Unmarshal(raw, &found); err == nil && !slices.Contains(found.SupportedVersions, l.modern) {
			err = fmt.Errorf("the server speaks %v", found.SupportedVersions)
		}
	}
	if err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

func initialize(ctx context.Context, u *url.URL) (*leg, error) {
	l := newLeg(u)
	params := fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{},"clientInfo":%s}`, mcp.Legacy()[0], clientInfo)
	init, err := l.peer.Initialize(ctx, []byte(params), func(revision string) bool {
		return slices.Contains(mcp.Legacy(), revision)
	})
	if err != nil {
		l.close()
		return nil, err
	}
	l.spoken = init.Revision
	return l, nil
}

func (l *leg) revision() string { return l.spoken }

func (l *leg) close() error {
	l.peer.Close(nil)
	l.http.Wait()
	return nil
}

// request makes one call and returns its raw result.
func (l *leg) request(ctx context.Context, method, name string, params map[string]any) (json.RawMessage, error) {
	if l.modern != "" {
		params["_meta"] = map[string]any{
			mcp.MetaProtocolVersion:    l.modern,
			mcp.MetaClientInfo:         json.RawMessage(clientInfo),
			mcp.MetaClientCapabilities: struct{}{},
		}
	}
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	answer, err := l.peer.Call(ctx, peer.Request{Method: method, Params: raw, Revision: l.modern, Name: name})
	if err != nil {
		return nil, err
	}
	if answer.Err != nil {
		return nil, fmt.Errorf("%w (error %d)", answer.Err, answer.Err.Code)
	}
	return answer.Result, nil
}

// maxPages bounds a list whose cursors do not end (R2).
const maxPages = 1000

func (l *leg) tools(ctx context.Context) (all []json.RawMessage, err error) {
	cursor := ""
	for range maxPages {
		params := map[string]any{}
		if cursor != "" {
			params["cursor"] = cursor
		}
		raw, err := l.request(ctx, mcp.MethodToolsList, "", params)
		if err != nil {
			return nil, err
		}
		var page struct {
			Tools      []json.RawMessage `json:"tools"`
			NextCursor string            `json:"nextCursor"`
		}
		if err := json.Unmarshal(raw, &page); err != nil {
			return nil, fmt.Errorf("a list of tools that cannot be read: %w", err)
		}
		all = append(all, page.Tools...)
		if page.NextCursor == "" || page.NextCursor == cursor {
			return all, nil
		}
		cursor = page.NextCursor
	}
	return nil, fmt.Errorf("the list of tools has more than %d pages", maxPages)
}

func (l *leg) call(ctx context.Context, tool string, args json.RawMessage) (json.RawMessage, error) {
	raw, err := l.request(ctx, mcp.MethodToolsCall, tool, map[string]any{"name": tool, "arguments": args})
	if err != nil {
		return nil, err
	}
	var kind struct {
		ResultType string `json:"resultType"`
	}
	if err := json.Unmarshal(raw, &kind); err == nil && kind.ResultType == "input_required" {
		return nil, errors.New("the tool asks back, which this command cannot answer: use a client that can")
	}
	return raw, nil
}
