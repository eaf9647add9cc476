package load

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// The revisions that clients speak.
const (
	modernRevision = "2026-07-28"
	legacyRevision = "2025-11-25"
)

const clientInfo = `{"name":"fairlead-load","version":"1.0.0"}`

// envelope is what every request of 2026-07-28 carries in params._meta.
const envelope = `{"io.modelcontextprotocol/protocolVersion":"` + modernRevision + `",` +
	`"io.modelcontextprotocol/clientInfo":` + clientInfo + `,` +
	`"io.modelcontextprotocol/clientCapabilities":{}}`

func initializeBody(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":%s}}`,
		id, legacyRevision, clientInfo)
}

const initializedBody = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

func legacyCall(id int, tool, args string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, args)
}

func modernCall(id int, tool, args string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":%s}}`, id, tool, args, envelope)
}

// request makes a request with the headers that every MCP client sends.
func request(ctx context.Context, method, url, body string, header map[string]string) *http.Request {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader([]byte(body)))
	if err != nil {
		panic(err) // the URL was validated, the methods are constants
	}
	req.Header.Set("Accept", "application/json, text/event-stream")
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for k, v := range header {
		req.Header.Set(k, v)
	}
	return req
}

// reply is the part of a response message that we look at.
type reply struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

type callResult struct {
	IsError bool `json:"isError"`
	Content []struct {
		Text string `json:"text"`
	} `json:"content"`
}

// text returns the first text of a tool's result, or an error when the reply is
// not a successful result.
func (r *reply) text() (string, error) {
	if r.Error != nil {
		return "", fmt.Errorf("JSON-RPC error %d: %.200s", r.Error.Code, r.Error.Message)
	}
	var res callResult
	if err := json.Unmarshal(r.Result, &res); err != nil {
		return "", fmt.Errorf("result is no tool result: %w", err)
	}
	var text string
	if len(res.Content) > 0 {
		text = res.Content[0].Text
	}
	if res.IsError {
		return "", fmt.Errorf("tool error: %.200s", text)
	}
	return text, nil
}
