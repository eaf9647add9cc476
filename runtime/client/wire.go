package client

import (
	"context"
	"log/slog"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/salvage"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// WireRecord is one message as it travelled.
type WireRecord struct {
	// Sent: it went to the server; else it came from it.
	Sent bool
	// Raw is the message. It must not be changed, nor kept without being
	// copied.
	Raw []byte
	// Err: sending failed.
	Err error
}

// MaxWireLog bounds how much of a message WireLog shows, in bytes.
const MaxWireLog = 4 << 10

// WireLog makes an Options.Wire that writes every message to a logger, at
// level, with the values of members that look like secrets left out and cut at
// MaxWireLog. A message that is not JSON shows its size only.
func WireLog(log *slog.Logger, level slog.Level) func(WireRecord) {
	return func(r WireRecord) {
		ctx := context.Background()
		if !log.Enabled(ctx, level) {
			return
		}
		direction := "received"
		if r.Sent {
			direction = "sent"
		}
		attrs := []slog.Attr{slog.String("direction", direction), slog.Int("bytes", len(r.Raw))}
		if shown := Redacted(r.Raw); shown != nil {
			if len(shown) > MaxWireLog {
				shown = append(shown[:MaxWireLog:MaxWireLog], "…"...)
			}
			attrs = append(attrs, slog.String("message", string(shown)))
		}
		if r.Err != nil {
			attrs = append(attrs, slog.String("error", r.Err.Error()))
		}
		log.LogAttrs(ctx, level, "mcp message", attrs...)
	}
}

// wire is a link that shows what passes.
type wire struct {
	peer.Link
	see func(WireRecord)
}

// wired puts see on a link. It stays what it is beside: one that negotiates.
func wired(link peer.Link, see func(WireRecord)) peer.Link {
	w := &wire{Link: link, see: see}
	if n, ok := link.(peer.Negotiator); ok {
		return &struct {
			*wire
			peer.Negotiator
		}{w, n}
	}
	return w
}

// Start implements peer.Link.
func (w *wire) Start(r peer.Receiver) { w.Link.Start(&wireEar{Receiver: r, see: w.see}) }

// Send implements peer.Link.
func (w *wire) Send(ctx context.Context, out *peer.Outgoing) error {
	w.see(WireRecord{Sent: true, Raw: out.Raw})
	if deliver := out.Deliver; deliver != nil {
		shown := *out
		shown.Deliver = func(raw []byte) bool {
			w.see(WireRecord{Raw: raw})
			return deliver(raw)
		}
		out = &shown
	}
	err := w.Link.Send(ctx, out)
	if err != nil {
		w.see(WireRecord{Sent: true, Raw: out.Raw, Err: err})
	}
	return err
}

type wireEar struct {
	peer.Receiver
	see func(WireRecord)
}

// Deliver implements peer.Receiver.
func (e *wireEar) Deliver(raw []byte) {
	e.see(WireRecord{Raw: raw})
	e.Receiver.Deliver(raw)
}

// Broken implements peer.Receiver.
func (e *wireEar) Broken(what salvage.Peek, begin []byte, reason peer.Reason) {
	e.see(WireRecord{Raw: begin, Err: &peer.Failure{Reason: reason}})
	e.Receiver.Broken(what, begin, reason)
}

// SlogHandler makes a Handlers.Notification that writes a server's log messages
// to a logger (W23) and passes everything else on to next, which may be nil.
// now stamps records; nil means time.Now.
func SlogHandler(log *slog.Logger, next func(Notification), now func() time.Time) func(Notification) {
	if now == nil {
		now = time.Now
	}
	return func(n Notification) {
		if n.Method != "notifications/message" {
			if next != nil {
				next(n)
			}
			return
		}
		ctx := context.Background()
		level := slogLevel(text(n.Params, "level"))
		if !log.Enabled(ctx, level) {
			return
		}
		data := member(n.Params, "data")
		message, isText := strictjson.String(data)
		if !isText {
			if message = text(data, "message"); message == "" {
				message = text(data, "msg")
			}
		}
		r := slog.NewRecord(now(), level, message, 0)
		if name := text(n.Params, "logger"); name != "" {
			r.AddAttrs(slog.String("logger", name))
		}
		if !isText && data != nil {
			r.AddAttrs(slog.Any("data", data))
		}
		_ = log.Handler().Handle(ctx, r)
	}
}

// slogLevel spreads the eight levels (W23.10) over slog's numbers; notice lies
// between info and warning, and what is worse than an error above it.
func slogLevel(level string) slog.Level {
	switch level {
	case "debug":
		return slog.LevelDebug
	case "notice":
		return slog.LevelInfo + 2
	case "warning":
		return slog.LevelWarn
	case "error":
		return slog.LevelError
	case "critical":
		return slog.LevelError + 4
	case "alert":
		return slog.LevelError + 8
	case "emergency":
		return slog.LevelError + 12
	}
	return slog.LevelInfo
}
