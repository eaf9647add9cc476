package mcp

// The methods a client may call, and what the server may call back.
const (
	MethodInitialize       = "initialize"
	MethodDiscover         = "server/discover"
	MethodPing             = "ping"
	MethodToolsList        = "tools/list"
	MethodToolsCall        = "tools/call"
	MethodPromptsList      = "prompts/list"
	MethodPromptsGet       = "prompts/get"
	MethodResourcesList    = "resources/list"
	MethodTemplatesList    = "resources/templates/list"
	MethodResourcesRead    = "resources/read"
	MethodSubscribe        = "resources/subscribe"
	MethodUnsubscribe      = "resources/unsubscribe"
	MethodListen           = "subscriptions/listen"
	MethodComplete         = "completion/complete"
	MethodSetLevel         = "logging/setLevel"
	MethodTasksGet         = "tasks/get"
	MethodTasksCancel      = "tasks/cancel"
	MethodTasksResult      = "tasks/result"
	MethodTasksList        = "tasks/list"
	MethodTasksUpdate      = "tasks/update"
	MethodCreateMessage    = "sampling/createMessage"
	MethodElicit           = "elicitation/create"
	MethodRootsList        = "roots/list"
	NotifyInitialized      = "notifications/initialized"
	NotifyCancelled        = "notifications/cancelled"
	NotifyProgress         = "notifications/progress"
	NotifyMessage          = "notifications/message"
	NotifyToolsChanged     = "notifications/tools/list_changed"
	NotifyPromptsChanged   = "notifications/prompts/list_changed"
	NotifyResourcesChanged = "notifications/resources/list_changed"
	NotifyResourceUpdated  = "notifications/resources/updated"
	NotifyRootsChanged     = "notifications/roots/list_changed"
	NotifyElicitComplete   = "notifications/elicitation/complete"
	NotifyTaskStatus       = "notifications/tasks/status"
	NotifyTasks            = "notifications/tasks"
	NotifyAcknowledged     = "notifications/subscriptions/acknowledged"
)

// Capability is where a peer declares that it takes part in something: a path
// of member names in its capabilities object. Empty means that none is needed.
type Capability string

// The capabilities that methods depend on. A path is written with dots; member
// names of the protocol hold none.
const (
	CapTools       Capability = "tools"
	CapPrompts     Capability = "prompts"
	CapResources   Capability = "resources"
	CapSubscribe   Capability = "resources.subscribe"
	CapCompletions Capability = "completions"
	CapLogging     Capability = "logging"
	CapTasks       Capability = "tasks"
	CapSampling    Capability = "sampling"
	CapElicitation Capability = "elicitation"
	CapRoots       Capability = "roots"
)

// Method is what the protocol says about one request method of one revision.
type Method struct {
	Name string
	// Needs is the server capability behind it (client capability for
	// Reverse ones).
	Needs Capability
	// NameParam is the member of params that Mcp-Name repeats (W15 table).
	NameParam string
	// InputRequired: the answer may ask for input first (W32.2).
	InputRequired bool
	// Cached: the result carries caching hints where the profile has them
	// (W34.1).
	Cached bool
	// Attributable: a reverse call of the workload may belong to it (B6.1).
	Attributable bool
	// Listening: the answer is a long-lived event stream.
	Listening bool
	// Waiting: it waits for what other requests do, perhaps for minutes, and
	// does no work itself.
	Waiting bool
	// Extension is the extension that must be declared to use it.
	Extension string
}

// ExtensionTasks is the tasks extension (W36).
const ExtensionTasks = "io.modelcontextprotocol/tasks"

type entry struct {
	Method
	reverse   bool
	from, end string // first revision that has it, and the first that no longer has
}

const first, never = Revision20241105, ""

var methods = map[string][]entry{
	MethodInitialize:    {{from: first, end: Revision20260728}},
	MethodPing:          {{from: first, end: Revision20260728}},
	MethodDiscover:      {{from: Revision20260728, Method: Method{Cached: true}}},
	MethodToolsList:     {{from: first, Method: Method{Needs: CapTools, Cached: true}}},
	MethodToolsCall:     {{from: first, Method: Method{Needs: CapTools, NameParam: "name", InputRequired: true, Attributable: true}}},
	MethodPromptsList:   {{from: first, Method: Method{Needs: CapPrompts, Cached: true}}},
	MethodPromptsGet:    {{from: first, Method: Method{Needs: CapPrompts, NameParam: "name", InputRequired: true, Attributable: true}}},
	MethodResourcesList: {{from: first, Method: Method{Needs: CapResources, Cached: true}}},
	MethodTemplatesList: {{from: first, Method: Method{Needs: CapResources, Cached: true}}},
	MethodResourcesRead: {{from: first, Method: Method{Needs: CapResources, NameParam: "uri", InputRequired: true, Cached: true, Attributable: true}}},
	MethodSubscribe:     {{from: first, end: Revision20260728, Method: Method{Needs: CapSubscribe}}},
	MethodUnsubscribe:   {{from: first, end: Revision20260728, Method: Method{Needs: CapSubscribe}}},
	MethodListen:        {{from: Revision20260728, Method: Method{Listening: true}}},
	MethodComplete:      {{from: first, end: Revision20250326}, {from: Revision20250326, Method: Method{Needs: CapCompletions}}},
	MethodSetLevel:      {{from: first, end: Revision20260728, Method: Method{Needs: CapLogging}}},
	MethodTasksGet:      {{from: Revision20251125, end: Revision20260728, Method: Method{Needs: CapTasks}}, {from: Revision20260728, Method: Method{NameParam: "taskId", Extension: ExtensionTasks}}},
	MethodTasksCancel:   {{from: Revision20251125, end: Revision20260728, Method: Method{Needs: CapTasks}}, {from: Revision20260728, Method: Method{NameParam: "taskId", Extension: ExtensionTasks}}},
	MethodTasksUpdate:   {{from: Revision20260728, Method: Method{NameParam: "taskId", Extension: ExtensionTasks}}},
	MethodTasksResult:   {{from: Revision20251125, end: Revision20260728, Method: Method{Needs: CapTasks, Waiting: true}}},
	MethodTasksList:     {{from: Revision20251125, end: Revision20260728, Method: Method{Needs: CapTasks}}},
	MethodCreateMessage: {{reverse: true, from: first, end: Revision20260728, Method: Method{Needs: CapSampling}}},
	MethodElicit:        {{reverse: true, from: Revision20250618, end: Revision20260728, Method: Method{Needs: CapElicitation}}},
	MethodRootsList:     {{reverse: true, from: first, end: Revision20260728, Method: Method{Needs: CapRoots}}},
}

// Serves reports whether a request may go to a Server: a method of the
// revision, which the Server refuses itself when it does not offer it (W5.6),
// or one that no revision knows, which is the Server's own business (bridge
// section 13).
func (p Profile) Serves(name string) bool {
	_, known := p.Method(name)
	return known || !KnownMethod(name)
}

// Method finds what the revision says about a request from the client.
func (p Profile) Method(name string) (Method, bool) { return p.find(name, false) }

// Reverse finds what the revision says about a request from the server; ping
// needs no entry, either side may send it (W21.1).
func (p Profile) Reverse(name string) (Method, bool) { return p.find(name, true) }

func (p Profile) find(name string, reverse bool) (Method, bool) {
	side := 0
	if reverse {
		side = 1
	}
	if m := known[name]; m != nil && m[side][p.index] != nil {
		return *m[side][p.index], true
	}
	return Method{}, false
}

// perRevision is a method as the revisions have it, by their index; of the
// client's side and of the server's. nil: that one has it not.
type perRevision [2][len(profiles)]*Method

// known are the methods as they are asked for, several times with each request.
var known = lookups()

func lookups() map[string]*perRevision {
	out := make(map[string]*perRevision, len(methods))
	for name, entries := range methods {
		found := new(perRevision)
		for _, e := range entries {
			side, end := 0, len(profiles)
			if e.reverse {
				side = 1
			}
			if e.end != never {
				end = indexOf(e.end)
			}
			m := e.Method
			m.Name = name
			for i := indexOf(e.from); i < end; i++ {
				found[side][i] = &m
			}
		}
		out[name] = found
	}
	return out
}

// Repeatable reports whether a message may be sent again when nobody knows
// whether it arrived: it reads, or says how something shall be, so that twice is
// the same as once (B0.5). Of requests that no revision has it is not known.
func Repeatable(name string) bool {
	switch name {
	case MethodToolsCall, MethodTasksUpdate, MethodCreateMessage, MethodElicit:
		return false
	}
	return KnownMethod(name)
}

// KnownMethod reports whether any revision has the method, in either
// direction: the closed set of names that may become a metric label.
func KnownMethod(name string) bool {
	if _, ok := methods[name]; ok {
		return true
	}
	return notifications[name]
}

var notifications = map[string]bool{
	NotifyInitialized: true, NotifyCancelled: true, NotifyProgress: true, NotifyMessage: true,
	NotifyToolsChanged: true, NotifyPromptsChanged: true, NotifyResourcesChanged: true,
	NotifyResourceUpdated: true, NotifyRootsChanged: true, NotifyElicitComplete: true,
	NotifyTaskStatus: true, NotifyTasks: true, NotifyAcknowledged: true,
}
