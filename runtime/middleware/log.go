package middleware

import (
	"context"
	"log/slog"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// maxLogged bounds what a record quotes of the other side's words.
const maxLogged = 128

// RequestLog writes one record for every request when it has been answered: at
// Info, or at Warn when it failed; and one at Debug for every notification and
// response. It never writes params or results. log may not be nil.
func RequestLog(log *slog.Logger) Middleware {
	return func(next Handler) Handler {
		return func(ctx context.Context, m *Message) jsonrpc.Outcome {
			if m.Kind != jsonrpc.KindRequest {
				if log.Enabled(ctx, slog.LevelDebug) {
					log.LogAttrs(ctx, slog.LevelDebug, kindName(m.Kind), logged(m)...)
				}
				return next(ctx, m)
			}
			began := time.Now()
			o := next(ctx, m)
			level := slog.LevelInfo
			if o.Err != nil {
				level = slog.LevelWarn
			}
			if !log.Enabled(ctx, level) {
				return o
			}
			attrs := append(logged(m), slog.Duration("took", time.Since(began)))
			if o.Err != nil {
				attrs = append(attrs, slog.Int64("code", o.Err.Code))
				if reason := o.Err.Reason(); reason != "" {
					attrs = append(attrs, slog.String("reason", short(reason)))
				}
			}
			log.LogAttrs(ctx, level, "request", attrs...)
			return o
		}
	}
}

func kindName(k jsonrpc.Kind) string {
	if k == jsonrpc.KindNotification {
		return "notification"
	}
	return "response"
}

// logged says what a message is and whose.
func logged(m *Message) []slog.Attr {
	attrs := make([]slog.Attr, 0, 10)
	add := func(key, value string) {
		if value != "" {
			attrs = append(attrs, slog.String(key, short(value)))
		}
	}
	add("method", m.Method)
	add("id", m.ID.String())
	if m.Kind == jsonrpc.KindRequest {
		switch m.Method {
		case mcp.MethodToolsCall:
			add("tool", textParam(m, "name"))
		case mcp.MethodPromptsGet:
			add("prompt", textParam(m, "name"))
		}
	}
	add("parent", m.Parent.String())
	add("revision", m.Revision)
	add("session", m.Session)
	add("principal", m.Principal)
	return attrs
}

func short(text string) string { return text[:min(len(text), maxLogged)] }
