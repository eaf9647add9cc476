package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// The floor is what a server costs that somebody writes by hand in an hour:
// net/http, and encoding/json with plain values, because params may hold
// anything. It checks nothing and knows no session.

// echo reads a call and returns the answer to it.
func echo(r *http.Request) (any, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var call map[string]any
	if err := json.Unmarshal(body, &call); err != nil {
		return nil, err
	}
	params, _ := call["params"].(map[string]any)
	arguments, _ := params["arguments"].(map[string]any)
	return map[string]any{
		"jsonrpc": "2.0",
		"id":      call["id"],
		"result":  map[string]any{"content": []any{map[string]any{"type": "text", "text": arguments["text"]}}},
	}, nil
}

// floorJSON answers by a JSON body.
func floorJSON(w http.ResponseWriter, r *http.Request) {
	answer, err := echo(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // a client that is gone gets no answer
}

// floorSSE answers by one event.
func floorSSE(w http.ResponseWriter, r *http.Request) {
	answer, err := echo(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var data bytes.Buffer
	if err := json.NewEncoder(&data).Encode(answer); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if _, err := fmt.Fprintf(w, "event: message\ndata: %s\n", data.Bytes()); err == nil {
		_ = http.NewResponseController(w).Flush()
	}
}
