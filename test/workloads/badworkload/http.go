package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"

	"github.com/fairlead-dev/fairlead/test/conformance/record"
)

// http serves until it is killed. Modes:
//
//	silent      takes everything and never says a word
//	endless     answers with an event that never ends
//	long-line   answers with 100 MB
//	500         answers with status 500 and a page
//	wrong-type  answers with JSON that it calls text
//	wrong-id    answers with an id that nobody used
//	twice       answers twice
//	garbage     sends events that are no messages before its answer
//	deaf        reads nothing of the call
//	dies        answers and ends with 1
//	stops       it stops itself (SIGSTOP)
//	asks        it asks for sampling, which the client did not declare, and tells how that went
//	host        serves nobody who does not call it localhost
//	no-host     serves nobody
//	cuts        closes the connection without an answer
//	closes      answers everything, and closes each connection after that
//	            without having said so
func (s *server) http(mode, port string) error {
	answers := make(chan *message, 1)
	return http.ListenAndServe("127.0.0.1:"+port, record.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case mode == "silent":
			<-r.Context().Done()
			return
		case mode == "no-host", mode == "host" && !strings.HasPrefix(r.Host, "localhost:"):
			http.Error(w, "Invalid Host header", http.StatusForbidden)
			return
		}
		var m message
		if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&m) != nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		switch {
		case m.ID == nil, m.Method == "":
			if m.Method == "" {
				answers <- &m
			}
			w.WriteHeader(http.StatusAccepted)
		case mode == "closes":
			hang(w, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", s.result(&m))
		case m.bad():
			s.wrong(w, r, mode, &m, answers)
		default:
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, s.result(&m)) // whoever has gone does not matter
		}
	}), s.log))
}

func (s *server) wrong(w http.ResponseWriter, r *http.Request, mode string, m *message, answers <-chan *message) {
	event := func(data string) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: "+data+"\n\n")
		_ = http.NewResponseController(w).Flush()
	}
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
	case "long-line":
		w.Header().Set("Content-Type", "application/json")
		_ = endless(w, m)
	case "500":
		http.Error(w, "<h1>It is not you, it is us</h1>", http.StatusInternalServerError)
	case "wrong-type":
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, s.result(m))
	case "wrong-id":
		m.ID = json.RawMessage(`"nobody's"`)
		_, _ = io.WriteString(w, s.result(m))
	case "twice":
		event(s.result(m))
		event(s.result(m))
	case "garbage":
		event("hello")
		event(`{"level":"info","msg":"handling"}`)
		event(s.result(m))
	case "deaf":
		<-r.Context().Done()
	case "dies":
		_, _ = io.WriteString(w, s.result(m))
		_ = http.NewResponseController(w).Flush()
		os.Exit(1)
	case "stops":
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		<-r.Context().Done() // this call stays without an answer
	case "asks":
		event(asking)
		select {
		case answer := <-answers:
			m.told(answer)
			event(s.result(m))
		case <-r.Context().Done():
		}
	case "host":
		_, _ = io.WriteString(w, s.result(m))
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
