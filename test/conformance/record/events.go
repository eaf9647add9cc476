package record

import "bytes"

// events takes an event stream apart, in whatever pieces it comes. Only the
// data of unnamed events and of those named "message" is a message; empty data
// is none (it only carries an id).
type events struct {
	emit func(data []byte)
	// endpoint gets the data of the event that says where to POST (HTTP+SSE).
	endpoint func(data []byte)

	line  []byte
	data  []byte
	lines int // of data
	name  string
}

func (e *events) write(p []byte) {
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			e.line = append(e.line, p...)
			return
		}
		e.line = append(e.line, p[:end]...)
		p = p[end+1:]
		e.field(bytes.TrimSuffix(e.line, []byte("\r")))
		e.line = e.line[:0]
	}
}

func (e *events) field(line []byte) {
	if len(line) == 0 {
		if e.lines > 0 && len(e.data) > 0 && (e.name == "" || e.name == "message") {
			e.emit(bytes.Clone(e.data))
		}
		if e.lines > 0 && e.name == "endpoint" {
			e.endpoint(e.data)
		}
		e.data, e.lines, e.name = e.data[:0], 0, ""
		return
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		e.name = string(value)
	case "data":
		if e.lines++; e.lines > 1 {
			e.data = append(e.data, '\n')
		}
		if len(e.data) <= maxMessage {
			e.data = append(e.data, value...)
		}
	}
}
