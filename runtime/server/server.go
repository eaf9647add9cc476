package server

import (
	"encoding/json"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/task"
)

// Info is who the server says it is. No client may decide anything by it
// (W6.8).
type Info struct {
	Name, Title, Version string
	Description          string
	// Instructions tell a model how the server is meant to be used.
	Instructions string
	WebsiteURL   string
	Icons        []Icon
}

// Icon is a picture of a server, a tool, a prompt or a resource (W37.4).
type Icon struct {
	Src      string   `json:"src"`
	MIMEType string   `json:"mimeType,omitempty"`
	Sizes    []string `json:"sizes,omitempty"`
	Theme    string   `json:"theme,omitempty"`
}

// Options are the settings of a Server; the zero value works. Defaults are in
// brackets.
type Options struct {
	// PageSize is how many items a page of a list holds [100].
	PageSize int
	// Cache are the hints of 2026-07-28 on lists and reads.
	Cache Cache
	// Keys seal cursors and requestState. Servers that stand for one another
	// need the same; nil is a random key of this process.
	Keys *seal.Keyring
	// NameInputs writes the key of an input into requests to clients of the
	// revisions that have such requests, so that a bridge can give it to clients
	// of the other era under the same key.
	NameInputs bool
	// Offers forces capabilities that nothing is registered for yet, and
	// takes away those that are there by default.
	Offers Offers
	// Extensions are what the server offers besides, by identifier (W5.11);
	// each value is a settings object.
	Extensions map[string]json.RawMessage
	// Visible, when not nil, is asked besides an item's own Visible whether a
	// caller may see it, for every list, call, read and change.
	Visible func(who Caller, kind Kind, name string) bool
	// Tasks runs tools as tasks; nil is none, whatever tools say (W35.3). Who
	// made it closes it, after the server's fronts.
	Tasks *task.Engine
	// LogLevel is what a session is sent before it sets a level [LevelInfo].
	LogLevel Level
	// Coalesce is how long changes are collected before they are told [20ms].
	Coalesce time.Duration
	// InputTTL is how long a requestState is good for [1h]: as long as a
	// person may take to answer.
	InputTTL time.Duration
	// MaxRounds bounds the rounds of input of one request [16].
	MaxRounds int
	// MaxState bounds what a requestState carries, in bytes before it is
	// sealed: the answers so far and the handler's state [64 KiB].
	MaxState int
	// MaxSubscriptions bounds the resources that one session, or one listen,
	// watches [256].
	MaxSubscriptions int
	// MaxListeners bounds the listens that are open at once [1024].
	MaxListeners int
	// Watched, when not nil, is told that a resource has its first subscriber,
	// and that it has none any more, counting sessions and listens together. It
	// must be quick and must not call the server.
	Watched func(uri string, watched bool)
	// Opened and Closed, when not nil, are told of legacy sessions: after
	// initialize, and once when they have ended. They must be quick.
	Opened   func(session dispatch.Session)
	Closed   func(session dispatch.Session, cause error)
	Observer *hook.Observer
	// Logger is told what a client must not be; nil is silence.
	Logger *slog.Logger
}

// Offers are capabilities beyond what the registries say.
type Offers struct {
	// Tools, Prompts, Resources and Completions are offered although none is
	// there yet, so that sessions that begin now learn of later ones.
	Tools, Prompts, Resources, Completions bool
	// NoLogging and NoSubscribe take these away, for all.
	NoLogging, NoSubscribe bool
}

func (o Options) withDefaults() Options {
	def(&o.PageSize, 100)
	def(&o.Coalesce, 20*time.Millisecond)
	def(&o.InputTTL, time.Hour)
	def(&o.MaxRounds, 16)
	def(&o.MaxState, 64<<10)
	def(&o.MaxSubscriptions, 256)
	def(&o.MaxListeners, 1024)
	if o.LogLevel == 0 {
		o.LogLevel = LevelInfo
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

func def[T int | time.Duration](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}

// Server is an MCP server. All methods may be called concurrently, also while
// it serves.
type Server struct {
	info  Info
	opt   Options
	keys  *seal.Keyring
	clock clock
	// full and short are the identity as it is sent, per form.
	identity identity

	tools     registry[toolEntry]
	prompts   registry[promptEntry]
	resources registry[resourceEntry]
	templates registry[templateEntry]
	raw       registry[rawEntry]
	notices   registry[noticeEntry]
	completes completions
	shapes    shapes
	// seen remembers what was registered once: a capability stays (W26.2).
	seen atomic.Uint32

	watchers watchers
	interest interest
	large    turns
	methods  map[string]method
}

var _ dispatch.Server = (*Server)(nil)

// New makes a server. It starts nothing and needs no end; Close tells those
// that listen to it that it goes away.
func New(info Info, o Options) *Server {
	s := &Server{info: info, opt: o.withDefaults(), keys: o.Keys, clock: newClock(), large: newTurns()}
	if s.keys == nil {
		s.keys = &seal.Keyring{Server: info.Name}
		// One key of the right length: there is nothing to refuse.
		_ = s.keys.LoadEphemeral()
	}
	s.identity = describe(info)
	s.watchers.init(s)
	if o.Watched != nil {
		s.interest.tell = func(uri string, watched bool) { s.fenced(func() { o.Watched(uri, watched) }) }
	}
	s.methods = s.table()
	return s
}
