// Package wire is the control protocol between sidecar and agent: its lines,
// their strict reading and their bounds. Both sides come in one release, so
// unknown members are refused; the version is looked at before anything else.
//
// It must not know sockets, processes or clocks.
package wire

// Version is the control protocol's only version.
const Version = 1

// Bounds of one line, its newline included, and of the values in it.
const (
	// MaxStart bounds the first line, towards the agent.
	MaxStart = 256 << 10
	// MaxCommand bounds each later line towards the agent.
	MaxCommand = 4 << 10
	// MaxReport bounds each line from the agent.
	MaxReport = 64 << 10
	// MaxKey bounds a process key.
	MaxKey = 64
	// MaxGraceMillis bounds a clock.
	MaxGraceMillis = 10 * 60 * 1000
)

// Request is the first line of a connection: exactly one member besides v.
type Request struct {
	V     int    `json:"v"`
	Start *Start `json:"start,omitempty"`
	Ping  *Empty `json:"ping,omitempty"`
}

// Empty is the body of a message that needs none.
type Empty struct{}

// Start asks for a process.
type Start struct {
	Key         string            `json:"key"`
	Env         map[string]string `json:"env,omitempty"`
	Cwd         string            `json:"cwd,omitempty"`
	Argv        []string          `json:"argv,omitempty"`
	StdinMillis int64             `json:"stdinMillis"`
	TermMillis  int64             `json:"termMillis"`
}

// The ways of a child's stdin and stdout.
const (
	// WayDescriptors: the pipes themselves come with the reply.
	WayDescriptors = "descriptors"
	// WayRelay: their bytes come in frames, which follow the line that says so
	// in both directions.
	WayRelay = "relay"
)

// Reply answers a Request: exactly one member besides v. Started comes with
// two descriptors, the child's stdin and stdout, unless its way is another.
type Reply struct {
	V       int      `json:"v"`
	Started *Started `json:"started,omitempty"`
	Pong    *Pong    `json:"pong,omitempty"`
	Error   *Refusal `json:"error,omitempty"`
}

// Started is a process that runs.
type Started struct {
	PID int `json:"pid"`
	// Way is the agent's. To WayDescriptors the sidecar answers by the way that
	// it found: what was sent along may have got lost. Empty: descriptors, and
	// no other way.
	Way string `json:"way,omitempty"`
}

// Pong is how full the agent is.
type Pong struct {
	Processes int `json:"processes"`
	Max       int `json:"max"`
}

// Refusal is why not. Code is one of the agent package's codes.
type Refusal struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Command is a later line towards the agent: exactly one member.
type Command struct {
	// Way is the first, and answers that of Started.
	Way    string `json:"way,omitempty"`
	Signal string `json:"signal,omitempty"`
	Stop   *Empty `json:"stop,omitempty"`
}

// Report is a later line from the agent: exactly one member.
type Report struct {
	Stopping *Empty `json:"stopping,omitempty"`
	Exit     *Exit  `json:"exit,omitempty"`
}

// Exit is the last line of a connection.
type Exit struct {
	Code       int      `json:"code"`
	Signal     string   `json:"signal,omitempty"`
	StderrTail []string `json:"stderrTail,omitempty"`
}
