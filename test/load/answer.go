package load

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
)

const maxAnswer = 8 << 20 // bytes of one answer

// errNoAnswer says that a response was complete and held no answer.
var errNoAnswer = errors.New("the response ended without the answer")

// answer reads the reply to request id from a 200 response, JSON or event
// stream, and the rest of the body, so that the connection can be used again.
func answer(resp *http.Response, id int) (*reply, error) {
	media, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil {
		return nil, fmt.Errorf("content type %q: %w", resp.Header.Get("Content-Type"), err)
	}
	body := io.LimitReader(resp.Body, maxAnswer)
	switch media {
	case "application/json":
		raw, err := io.ReadAll(body)
		if err != nil {
			return nil, err
		}
		var r reply
		if err := json.Unmarshal(raw, &r); err != nil {
			return nil, fmt.Errorf("%w in %.200q", err, raw)
		}
		if string(r.ID) != strconv.Itoa(id) {
			return nil, fmt.Errorf("answer to %s, not to %d", r.ID, id)
		}
		return &r, nil
	case "text/event-stream":
		var found *reply
		err := events(body, func(data string) error {
			var r reply
			if err := json.Unmarshal([]byte(data), &r); err != nil {
				return fmt.Errorf("%w in event %.200q", err, data)
			}
			if r.Method == "" && string(r.ID) == strconv.Itoa(id) {
				found = &r
			}
			return nil
		})
		if found != nil {
			// What breaks after the answer loses nothing.
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		return nil, errNoAnswer
	}
	return nil, fmt.Errorf("content type %q", media)
}

// events calls f with the data of every event that has data.
func events(r io.Reader, f func(data string) error) error {
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, maxAnswer)
	var data []string
	for sc.Scan() {
		line := sc.Text()
		if line == "" {
			if joined := strings.Join(data, "\n"); joined != "" && joined != "{}" {
				if err := f(joined); err != nil {
					return err
				}
			}
			data = nil
			continue
		}
		if v, ok := strings.CutPrefix(line, "data:"); ok {
			data = append(data, strings.TrimPrefix(v, " "))
		}
	}
	return sc.Err()
}
