package wireschema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/fairlead-dev/fairlead/test/conformance/record"
)

var english = message.NewPrinter(language.English)

// Judge checks recorded messages. Not safe for concurrent use.
type Judge struct {
	schemas map[string]*schema
	tasks   *schema // of the extension
	counts  map[Kind]int
}

// Kind is a sort of message that was judged.
type Kind struct {
	Revision string
	What     string // request, notification, result, error; of tasks: with "task" before
	// Exact tells messages that the schema has a definition of their own for
	// from those where it only has the envelope (extensions).
	Exact bool
}

// Violation is a message that is not as its revision's schema wants it.
type Violation struct {
	Revision, What, Method string
	Reason                 string
	Message                string // shortened
}

// New reads the schemas of all revisions in dir.
func New(dir string) (*Judge, error) {
	names, err := revisions(dir)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s holds no schema", dir)
	}
	j := &Judge{schemas: map[string]*schema{}, counts: map[Kind]int{}}
	if j.tasks, err = loadTasks(); err != nil {
		return nil, err
	}
	for _, name := range names {
		if j.schemas[name], err = load(dir, name); err != nil {
			return nil, err
		}
	}
	return j, nil
}

// Count is how many messages of a kind were judged, by all calls.
type Count struct {
	Kind
	Messages int
}

// Counts returns the counts in a fixed order.
func (j *Judge) Counts() []Count {
	var out []Count
	for k, n := range j.counts {
		out = append(out, Count{k, n})
	}
	slices.SortFunc(out, func(a, b Count) int {
		exact := func(c Count) int {
			if c.Exact {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.Revision, b.Revision), cmp.Compare(a.What, b.What), cmp.Compare(exact(a), exact(b)))
	})
	return out
}

// Check judges what was sent by us in one recording: lines of one server
// process, or of one run of a client, in their order.
func (j *Judge) Check(lines []record.Line) []Violation {
	c := &conversation{judge: j, methods: map[string]asked{}, revisions: map[string]string{}}
	for i := range lines {
		c.line(&lines[i])
	}
	return c.violations
}

// parse reads a message with numbers as they are.
func parse(raw []byte) (any, error) { return jsonschema.UnmarshalJSON(bytes.NewReader(raw)) }

func shortened(raw []byte) string {
	const most = 600
	if len(raw) > most {
		return string(raw[:most]) + "…"
	}
	return string(raw)
}

// encoded is the canonical text of an id: it tells 1 from "1".
func encoded(id any) string {
	raw, _ := json.Marshal(id)
	return string(raw)
}
