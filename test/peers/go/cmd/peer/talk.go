package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"
)

// maxLine bounds one line of what to do.
const maxLine = 1 << 20

// order is one line of `talk`; see ../../../clients/talk.mjs.
type order struct {
	Do, Name  string
	Args      map[string]any
	Tell      bool
	Count     int
	AfterMs   int
	TimeoutMs int
}

// failure is an error that the other side sent.
type failure struct {
	code int64
	data json.RawMessage
	err  error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// talk does what the lines of stdin say, on one connection, and answers each
// with one event.
func talk(ctx context.Context, s session) error {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var o order
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			return err
		}
		begun := time.Now()
		event, fields, err := o.do(ctx, s)
		if err != nil {
			event, fields = "failed", map[string]any{"error": err.Error(), "ms": time.Since(begun).Milliseconds()}
			if f := (*failure)(nil); errors.As(err, &f) {
				fields["code"], fields["data"] = f.code, f.data
			}
		}
		emit(event, fields)
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if err := s.close(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	emit("closed", map[string]any{})
	return nil
}

func (o order) do(ctx context.Context, s session) (event string, fields map[string]any, err error) {
	switch o.Do {
	case "tools", "prompts", "resources", "templates":
		names, err := s.list(ctx, o.Do)
		return o.Do, map[string]any{"names": names}, err
	case "prompt":
		args := map[string]string{}
		for name, v := range o.Args {
			args[name] = fmt.Sprint(v)
		}
		r, err := s.prompt(ctx, o.Name, args)
		return "prompt", map[string]any{"result": r}, err
	case "read":
		r, err := s.read(ctx, o.Name)
		return "read", map[string]any{"result": r}, err
	case "ping":
		return "pong", map[string]any{}, s.ping(ctx)
	case "call":
		return o.call(ctx, s)
	case "cancel":
		n, err := o.cancel(ctx, s)
		return "cancelled", map[string]any{"count": n}, err
	}
	return "", nil, fmt.Errorf("nothing is called %q", o.Do)
}

func (o order) call(ctx context.Context, s session) (string, map[string]any, error) {
	saw := s.seen()
	before := saw.counts()
	s.onProgress(func() {
		if o.Tell {
			emit("progress", map[string]any{})
		}
	})
	if o.TimeoutMs > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, time.Duration(o.TimeoutMs)*time.Millisecond)
		defer stop()
	}
	r, _, err := s.call(ctx, o.Name, o.Args)
	if err != nil {
		return "", nil, err
	}
	now := saw.counts()
	asked := map[string]int64{}
	for kind, n := range now {
		asked[kind] = n - before[kind]
	}
	return "result", map[string]any{"progress": asked["progress"], "seen": asked, "total": now, "result": r}, nil
}

// cancel gives calls up at their first progress notification, or after a while.
func (o order) cancel(ctx context.Context, s session) (cancelled int, err error) {
	for range max(1, o.Count) {
		call, stop := context.WithCancel(ctx)
		s.onProgress(func() {})
		if o.AfterMs > 0 {
			time.AfterFunc(time.Duration(o.AfterMs)*time.Millisecond, stop)
		} else {
			s.onProgress(stop)
		}
		_, _, err := s.call(call, o.Name, o.Args)
		gaveUp := call.Err() != nil
		stop()
		switch {
		case err != nil && gaveUp:
			cancelled++
		case err != nil:
			return cancelled, err
		}
	}
	return cancelled, nil
}
