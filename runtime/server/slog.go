package server

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"sync"
)

// Slog returns a logger whose records go to the client of this request, as
// Log's do: message and attributes become one object. name may be empty.
func (c *Context) Slog(name string) *slog.Logger {
	lines := &lines{}
	inner := slog.NewJSONHandler(lines, &slog.HandlerOptions{
		Level: slog.LevelDebug - 4,
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) == 0 && (a.Key == slog.TimeKey || a.Key == slog.LevelKey) {
				return slog.Attr{} // said by the notification itself
			}
			return a
		},
	})
	return slog.New(&bridge{c: c, name: name, inner: inner, lines: lines})
}

// lines takes what a JSON handler writes, one record at a time.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) { return l.buf.Write(p) }

// bridge hands slog's records to Context.Log.
type bridge struct {
	c     *Context
	name  string
	inner slog.Handler
	lines *lines
}

// Enabled implements slog.Handler: nothing is formatted that nobody wants.
func (b *bridge) Enabled(_ context.Context, level slog.Level) bool { return b.c.wants(levelOf(level)) }

// Handle implements slog.Handler.
func (b *bridge) Handle(ctx context.Context, r slog.Record) error {
	b.lines.mu.Lock()
	b.lines.buf.Reset()
	err := b.inner.Handle(ctx, r)
	line := bytes.Clone(bytes.TrimSpace(b.lines.buf.Bytes()))
	b.lines.mu.Unlock()
	if err != nil {
		return err
	}
	return b.c.Log(levelOf(r.Level), b.name, json.RawMessage(line))
}

// WithAttrs implements slog.Handler.
func (b *bridge) WithAttrs(attrs []slog.Attr) slog.Handler {
	out := *b
	out.inner = b.inner.WithAttrs(attrs)
	return &out
}

// WithGroup implements slog.Handler.
func (b *bridge) WithGroup(name string) slog.Handler {
	out := *b
	out.inner = b.inner.WithGroup(name)
	return &out
}

// levelOf places slog's open scale on the eight levels.
func levelOf(l slog.Level) Level {
	switch {
	case l < slog.LevelInfo:
		return LevelDebug
	case l < slog.LevelInfo+2:
		return LevelInfo
	case l < slog.LevelWarn:
		return LevelNotice
	case l < slog.LevelError:
		return LevelWarning
	case l < slog.LevelError+4:
		return LevelError
	case l < slog.LevelError+8:
		return LevelCritical
	case l < slog.LevelError+12:
		return LevelAlert
	}
	return LevelEmergency
}
