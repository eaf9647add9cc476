package server

import (
	"context"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// Level is a log level; higher is worse (W23.10).
type Level int

// The levels.
const (
	LevelDebug Level = iota + 1
	LevelInfo
	LevelNotice
	LevelWarning
	LevelError
	LevelCritical
	LevelAlert
	LevelEmergency
)

// String is the level's name on the wire.
func (l Level) String() string {
	names := [...]string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
	return names[min(max(l, LevelDebug), LevelEmergency)-1]
}

// setLevel serves logging/setLevel: the least level that the session is sent
// from now on (W23.2).
func (s *Server) setLevel(_ context.Context, x *dispatch.Exchange) dispatch.Outcome {
	level := Level(mcp.LogSeverity(text(x.Msg.Params, "level")))
	if level == 0 {
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "there is no such log level")) // W23.4
	}
	state := stateOf(x.Session())
	if state == nil {
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "a log level needs a session"))
	}
	state.level.Store(int32(level))
	return empty()
}

// wants reports whether the client of a request wants a message of a level.
func (c *Context) wants(level Level) bool {
	if !c.s.offers(mcp.CapLogging) {
		return false
	}
	if !c.x.Profile().Handshake {
		least := mcp.LogSeverity(c.x.LogLevel())
		return least > 0 && int(level) >= least // W23.5
	}
	least := c.s.opt.LogLevel
	if state := stateOf(c.x.Session()); state != nil {
		if set := Level(state.level.Load()); set > 0 {
			least = set
		}
	}
	return level >= least
}

type logMessage struct {
	Level  string `json:"level"`
	Logger string `json:"logger,omitempty"`
	Data   any    `json:"data"`
}

// Log sends a log message to the client of this request, if it wants messages
// of the level: by logging/setLevel, or on 2026-07-28 by asking for them in
// the request. data is anything that encodes to JSON and must hold no secrets
// (W23.9). A flood is thinned out (those from LevelError up by themselves), and
// a client that cannot be told does not hear it: the only error is data that
// does not encode.
func (c *Context) Log(level Level, logger string, data any) error {
	level = min(max(level, LevelDebug), LevelEmergency)
	if !c.wants(level) {
		return nil
	}
	raw, err := encode(logMessage{level.String(), logger, data})
	if err != nil {
		return err
	}
	rate := &c.logs
	if level >= LevelError {
		rate = &c.errors
	}
	c.mu.Lock()
	pass := rate.take()
	c.mu.Unlock()
	if !pass {
		c.s.opt.Observer.Drop(hook.DropFlood)
		return nil
	}
	_ = c.send(mcp.NotifyMessage, raw) // what does not arrive is counted where it is lost
	return nil
}
