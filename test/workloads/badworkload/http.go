package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// serveHTTP serves until it is killed. Modes:
//
//	endless     answers with an event that never ends
//	500         answers with status 500 and a page
//	wrong-type  answers with JSON that it calls text
//	cuts        closes the connection without an answer
//	closes      answers everything, and closes each connection after that
//	            without having said so
func serveHTTP(mode, port string) error {
	return http.ListenAndServe("127.0.0.1:"+port, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m message
		if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&m) != nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		if m.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		if mode == "closes" {
			hang(w, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", m.result())
			return
		}
		if m.bad() {
			wrong(w, r, mode, &m)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, m.result()) // whoever has gone does not matter
	}))
}

func wrong(w http.ResponseWriter, r *http.Request, mode string, m *message) {
	switch mode {
	case "endless":
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {")
		chunk := strings.Repeat(" ", 1<<20)
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, chunk); err != nil {
				return
			}
		}
	case "500":
		http.Error(w, "<h1>It is not you, it is us</h1>", http.StatusInternalServerError)
	case "wrong-type":
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, m.result())
	case "cuts":
		hang(w, "", "")
	}
}

// hang closes the connection, after an answer in the words of format if there is
// one.
func hang(w http.ResponseWriter, format, body string) {
	c, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer c.Close()
	if format != "" {
		fmt.Fprintf(buffered, format, len(body), body)
		_ = buffered.Flush()
	}
}
