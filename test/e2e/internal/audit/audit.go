// Package audit reads the API server's audit log of the local cluster: the only
// witness of who wrote what (O19).
package audit

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

const maxLine = 4 << 20 // bytes of one event

// Event is the part of an audit event that tests look at.
type Event struct {
	Stage      string
	Verb       string
	RequestURI string
	User       struct{ Username string }
	ObjectRef  *Ref

	ResponseStatus struct{ Code int }
	Annotations    map[string]string

	Received time.Time `json:"requestReceivedTimestamp"`
}

// Ref is the object of a request.
type Ref struct {
	Resource, Subresource, APIGroup, Namespace, Name string
}

// String is the event on one line.
func (e Event) String() string {
	return fmt.Sprintf("%s %s %s %d", e.Received.Format(time.TimeOnly), e.Verb, e.RequestURI, e.ResponseStatus.Code)
}

// Writes reports whether the request changes anything.
func (e Event) Writes() bool {
	return slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, e.Verb)
}

// Refused reports whether the user had no right to the request. Admission
// answers 403 too, for example in a namespace that is being deleted.
func (e Event) Refused() bool { return e.Annotations["authorization.k8s.io/decision"] == "forbid" }

// Lease reports whether the request is about leader election.
func (e Event) Lease() bool {
	return e.ObjectRef != nil && e.ObjectRef.Resource == "leases" && e.ObjectRef.APIGroup == "coordination.k8s.io"
}

// Log is the audit log from a point in time on.
type Log struct{ path string }

// Open finds the log of the local cluster, or leaves the test out.
func Open(t testing.TB) *Log {
	t.Helper()
	path := os.Getenv("FAIRLEAD_AUDIT_LOG")
	if path == "" {
		t.Skip("reads the audit log, which only the local cluster (make test-e2e without KUBECONFIG) has")
	}
	return &Log{path: path}
}

// Since returns the finished requests of a user whose name ends with suffix,
// received at or after begin. A watch counts from its start.
func (l *Log) Since(begin time.Time, suffix string) ([]Event, error) {
	f, err := os.Open(l.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []Event
	r := bufio.NewReaderSize(f, 64<<10)
	for {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return out, nil // a line without its end is still being written
		}
		if err != nil {
			return nil, err
		}
		if len(line) > maxLine {
			return nil, fmt.Errorf("an audit event of %d bytes", len(line))
		}
		var e Event
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("audit event %.200q: %w", line, err)
		}
		done := e.Stage == "ResponseComplete" || e.Verb == "watch" && e.Stage == "ResponseStarted"
		if done && !e.Received.Before(begin) && strings.HasSuffix(e.User.Username, suffix) {
			out = append(out, e)
		}
	}
}
