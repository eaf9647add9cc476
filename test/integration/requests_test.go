package integration

import (
	"net/http"
	"strings"
	"sync"
)

// requests records what a client asked of the API server, as RBAC sees it.
type requests struct {
	mu  sync.Mutex
	all map[string]int // "verb group/resource"
	// writes outside of the operator's own namespace, where its Lease is.
	writes []string
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (q *requests) transport(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(r)
		if err == nil {
			q.note(r, resp.StatusCode)
		}
		return resp, err
	})
}

func (q *requests) note(r *http.Request, code int) {
	group, namespace, resource, name, ok := parse(r.URL.Path)
	if !ok {
		return
	}
	verbs := []string{verbOf(r, name)}
	if r.Method == http.MethodPatch && code == http.StatusCreated {
		verbs = append(verbs, "create") // an apply of what did not exist
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.all == nil {
		q.all = map[string]int{}
	}
	for _, v := range verbs {
		q.all[v+" "+group+"/"+resource]++
	}
	if r.Method != http.MethodGet && namespace != operatorNamespace {
		q.writes = append(q.writes, verbs[0]+" "+resource+" "+namespace+"/"+name)
	}
}

func verbOf(r *http.Request, name string) string {
	switch r.Method {
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		return "delete"
	}
	switch {
	case r.URL.Query().Get("watch") != "":
		return "watch"
	case name == "":
		return "list"
	}
	return "get"
}

// parse reads /api/v1/… and /apis/group/version/… paths.
func parse(path string) (group, namespace, resource, name string, ok bool) {
	p := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case len(p) > 2 && p[0] == "api":
		p = p[2:]
	case len(p) > 3 && p[0] == "apis":
		group, p = p[1], p[3:]
	default:
		return "", "", "", "", false // discovery
	}
	if len(p) > 2 && p[0] == "namespaces" {
		namespace, p = p[1], p[2:]
	}
	resource = p[0]
	if len(p) > 1 {
		name = p[1]
	}
	if len(p) > 2 {
		resource += "/" + p[2]
	}
	return group, namespace, resource, name, true
}

// takeWrites returns the writes since the last call.
func (q *requests) takeWrites() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := q.writes
	q.writes = nil
	return out
}
