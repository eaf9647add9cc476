package observe

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/hook"
)

// NewLogger returns the logger of the process: JSON lines to w.
func NewLogger(w io.Writer, level slog.Leveler) *slog.Logger {
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level}))
}

// Untrusted is text that a client or the workload wrote. In a log it is cut
// and quoted, so that it can neither forge lines nor move a terminal (F1).
type Untrusted string

// maxUntrusted bounds the text in bytes, before quoting.
const maxUntrusted = 256

// LogValue implements slog.LogValuer.
func (u Untrusted) LogValue() slog.Value {
	text, more := string(u), ""
	if len(text) > maxUntrusted {
		text, more = text[:maxUntrusted], "…"
	}
	return slog.StringValue(strconv.QuoteToASCII(text) + more)
}

// AccessLog writes one line per operation: failures that are ours or the
// workload's at WARN, everything else at DEBUG. Arguments, results and ids are
// never written. A nil AccessLog writes nothing.
type AccessLog struct {
	log  *slog.Logger
	rate rate
}

// NewAccessLog returns an AccessLog that writes to log.
func NewAccessLog(log *slog.Logger) *AccessLog { return &AccessLog{log: log} }

func (a *AccessLog) operation(op hook.Operation, end hook.End) {
	if a == nil {
		return
	}
	level := slog.LevelDebug
	if serverFault(end) {
		level = slog.LevelWarn
	}
	ctx := context.Background()
	if !a.log.Enabled(ctx, level) {
		return
	}
	skipped := 0
	if level == slog.LevelWarn {
		var ok bool
		if skipped, ok = a.rate.admit(time.Now()); !ok {
			return
		}
	}
	attrs := []slog.Attr{
		slog.String("method", op.Method),
		slog.String("revision", op.Revision),
		slog.Float64("ms", millis(end.Duration)),
	}
	if op.Tool != "" {
		attrs = append(attrs, slog.Any("tool", Untrusted(op.Tool)))
	}
	if end.ErrorType != "" {
		attrs = append(attrs, slog.String("error", end.ErrorType))
	}
	if skipped > 0 {
		attrs = append(attrs, slog.Int("skipped", skipped))
	}
	a.log.LogAttrs(ctx, level, "operation", attrs...)
}

// serverFault reports whether an operation failed for a reason that is neither
// the client's nor the tool's.
func serverFault(end hook.End) bool {
	return end.ErrorType == "timeout" || end.ErrorType == "-32603"
}

func (a *AccessLog) panicked(value any, stack []byte) {
	if a == nil {
		return
	}
	const most = 8 << 10
	a.log.Error("panic", "value", Untrusted(fmt.Sprint(value)), "stack", string(stack[:min(len(stack), most)]))
}
