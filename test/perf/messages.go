package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
)

const (
	echoed   = "the quick brown fox jumps over the lazy dog"
	toolCall = `{"jsonrpc":"2.0","id":70,"method":"tools/call","params":{"name":"echo","arguments":{"text":"` + echoed + `"}%s}}`

	legacyRevision = "2025-11-25"
	modernRevision = "2026-07-28"
	modernMeta     = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"perf","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

	initialize  = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + legacyRevision + `","capabilities":{},"clientInfo":{"name":"perf","version":"1"}}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// Values of Accept.
const (
	acceptBoth = "Accept: application/json, text/event-stream"
	acceptJSON = "Accept: application/json"
	acceptSSE  = "Accept: text/event-stream"
)

// legacyCall is a tool call within a session.
func legacyCall(addr, session, accept string) []byte {
	headers := []string{accept, "MCP-Protocol-Version: " + legacyRevision}
	if session != "" {
		headers = append(headers, "Mcp-Session-Id: "+session)
	}
	return post(addr, fmt.Sprintf(toolCall, ""), headers...)
}

// modernCall is the same call as a request of its own.
func modernCall(addr string) []byte {
	return post(addr, fmt.Sprintf(toolCall, modernMeta), acceptBoth, "MCP-Protocol-Version: "+modernRevision, "Mcp-Method: tools/call", "Mcp-Name: echo")
}

// handshake opens a session over w and returns its id.
func handshake(w *wire, addr string) (string, error) {
	var body bytes.Buffer
	h, err := w.roundTrip(post(addr, initialize, acceptBoth), &body)
	if err != nil {
		return "", err
	}
	if h.status != http.StatusOK || h.session == "" {
		return "", fmt.Errorf("initialize: status %d, session %q, body %.300q", h.status, h.session, body.Bytes())
	}
	id := h.session
	h, err = w.roundTrip(post(addr, initialized, acceptBoth, "MCP-Protocol-Version: "+legacyRevision, "Mcp-Session-Id: "+id), &body)
	if err != nil {
		return "", err
	}
	if h.status != http.StatusAccepted {
		return "", fmt.Errorf("initialized: status %d, body %.300q", h.status, body.Bytes())
	}
	return id, nil
}

// openSession opens a session over a connection of its own.
func openSession(ctx context.Context, addr string) (string, error) {
	w, err := dialWire(ctx, addr)
	if err != nil {
		return "", err
	}
	defer w.close()
	return handshake(w, addr)
}
