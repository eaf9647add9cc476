package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

// ErrVersion is a first line or reply of another protocol version.
var ErrVersion = errors.New("other control protocol version")

// ParseRequest reads the first line of a connection. A line of another
// version is ErrVersion whatever else it holds.
func ParseRequest(line []byte) (Request, error) {
	m, err := versioned(line, "start", "ping")
	if err != nil {
		return Request{}, err
	}
	req := Request{V: Version}
	if raw, ok := m["start"]; ok {
		req.Start, err = parseStart(raw)
	} else {
		req.Ping, err = empty(m["ping"])
	}
	return req, err
}

func parseStart(raw json.RawMessage) (*Start, error) {
	m, err := object(raw)
	if err == nil {
		err = only(m, "key", "env", "cwd", "argv", "stdinMillis", "termMillis")
	}
	if err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	s := &Start{}
	err = errors.Join(
		read(m, "key", &s.Key, text),
		read(m, "env", &s.Env, texts),
		read(m, "cwd", &s.Cwd, text),
		read(m, "argv", &s.Argv, list),
		read(m, "stdinMillis", &s.StdinMillis, integer),
		read(m, "termMillis", &s.TermMillis, integer),
	)
	if err == nil {
		err = s.Validate()
	}
	if err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	return s, nil
}

// ParseReply reads the answer to a Request.
func ParseReply(line []byte) (Reply, error) {
	m, err := versioned(line, "started", "pong", "error")
	if err != nil {
		return Reply{}, err
	}
	rep := Reply{V: Version}
	for name, raw := range m {
		body, err := object(raw)
		if err != nil {
			return Reply{}, fmt.Errorf("%s: %w", name, err)
		}
		switch name {
		case "started":
			rep.Started = &Started{}
			err = errors.Join(only(body, "pid", "way"),
				number(body, "pid", &rep.Started.PID), read(body, "way", &rep.Started.Way, way))
		case "pong":
			rep.Pong = &Pong{}
			err = errors.Join(only(body, "processes", "max"),
				number(body, "processes", &rep.Pong.Processes), number(body, "max", &rep.Pong.Max))
		case "error":
			rep.Error = &Refusal{}
			err = errors.Join(only(body, "code", "message"),
				read(body, "code", &rep.Error.Code, text), read(body, "message", &rep.Error.Message, text))
		}
		if err != nil {
			return Reply{}, fmt.Errorf("%s: %w", name, err)
		}
	}
	return rep, nil
}

// ParseCommand reads a later line towards the agent. The signal's name is not
// looked at.
func ParseCommand(line []byte) (Command, error) {
	m, err := one(line, "signal", "stop", "way")
	if err != nil {
		return Command{}, err
	}
	var c Command
	if raw, ok := m["stop"]; ok {
		c.Stop, err = empty(raw)
		return c, err
	}
	if raw, ok := m["way"]; ok {
		c.Way, err = way(raw)
		return c, err
	}
	err = read(m, "signal", &c.Signal, text)
	if err == nil && c.Signal == "" {
		err = errors.New("signal is empty")
	}
	return c, err
}

// ParseReport reads a later line from the agent.
func ParseReport(line []byte) (Report, error) {
	m, err := one(line, "stopping", "exit")
	if err != nil {
		return Report{}, err
	}
	var r Report
	if raw, ok := m["stopping"]; ok {
		r.Stopping, err = empty(raw)
		return r, err
	}
	body, err := object(m["exit"])
	if err == nil {
		r.Exit = &Exit{}
		err = errors.Join(only(body, "code", "signal", "stderrTail"),
			number(body, "code", &r.Exit.Code),
			read(body, "signal", &r.Exit.Signal, text),
			read(body, "stderrTail", &r.Exit.StderrTail, list))
	}
	if err != nil {
		return Report{}, fmt.Errorf("exit: %w", err)
	}
	return r, nil
}

// versioned reads a line whose member v must be Version before it looks for
// exactly one of the others.
func versioned(line []byte, names ...string) (map[string]json.RawMessage, error) {
	m, err := object(line)
	if err != nil {
		return nil, err
	}
	var v int64
	if _, ok := m["v"]; !ok {
		return nil, errors.New("member v is missing")
	}
	if err := read(m, "v", &v, integer); err != nil {
		return nil, err
	}
	if v != Version {
		return nil, fmt.Errorf("%w: %d, this side speaks %d", ErrVersion, v, Version)
	}
	delete(m, "v")
	return m, exactlyOne(m, names)
}

func one(line []byte, names ...string) (map[string]json.RawMessage, error) {
	m, err := object(line)
	if err != nil {
		return nil, err
	}
	return m, exactlyOne(m, names)
}

func exactlyOne(m map[string]json.RawMessage, names []string) error {
	if err := only(m, names...); err != nil {
		return err
	}
	if len(m) != 1 {
		return fmt.Errorf("%d of the members %q, want exactly one", len(m), names)
	}
	return nil
}

// object reads one level. Unlike encoding/json on a struct it sees duplicate
// names, tells names that differ in case apart, and refuses bytes that are
// not UTF-8 and what follows the object.
func object(raw []byte) (map[string]json.RawMessage, error) {
	if !utf8.Valid(raw) {
		return nil, errors.New("not UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	m := map[string]json.RawMessage{}
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, broken(err)
		}
		name := tok.(string) // a Decoder accepts nothing else here
		if _, ok := m[name]; ok {
			return nil, fmt.Errorf("member %.40q twice", name)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, broken(err)
		}
		m[name] = value
	}
	if _, err := dec.Token(); err != nil {
		return nil, broken(err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("something follows the JSON object")
	}
	return m, nil
}

func broken(err error) error { return fmt.Errorf("bad JSON: %w", err) }

func only(m map[string]json.RawMessage, names ...string) error {
	for name := range m {
		if !slices.Contains(names, name) {
			return fmt.Errorf("unknown member %.40q", name)
		}
	}
	return nil
}
