package metadata

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Resource is a protected-resource metadata document (RFC 9728 section 2).
type Resource struct {
	// Resource is the canonical address of the server.
	Resource string `json:"resource"`
	// AuthorizationServers are issuers, at least one (W38.4).
	AuthorizationServers []string `json:"authorization_servers"`
	ScopesSupported      []string `json:"scopes_supported,omitempty"`
	// BearerMethods are "header" only, with us (W38.3).
	BearerMethods []string `json:"bearer_methods_supported,omitempty"`
	Name          string   `json:"resource_name,omitempty"`
	Documentation string   `json:"resource_documentation,omitempty"`
	Policy        string   `json:"resource_policy_uri,omitempty"`
	Terms         string   `json:"resource_tos_uri,omitempty"`
}

// Encode writes the document.
func (r *Resource) Encode() ([]byte, error) { return json.Marshal(r) }

// maxList bounds lists in documents of others; what is longer is cut.
const maxList = 128

// ParseResource reads a document. Member names are compared exactly, and what
// is unknown or of another type counts as absent, except for what a document is
// useless without.
func ParseResource(raw []byte) (*Resource, error) {
	if err := strictjson.Scan(raw, strictjson.FromClient); err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	r := &Resource{
		Resource:             text(raw, "resource"),
		AuthorizationServers: texts(raw, "authorization_servers"),
		ScopesSupported:      texts(raw, "scopes_supported"),
		BearerMethods:        texts(raw, "bearer_methods_supported"),
		Name:                 text(raw, "resource_name"),
		Documentation:        text(raw, "resource_documentation"),
		Policy:               text(raw, "resource_policy_uri"),
		Terms:                text(raw, "resource_tos_uri"),
	}
	if r.Resource == "" {
		return nil, errors.New("metadata: the document names no resource")
	}
	return r, nil
}

// Canonical returns the canonical address of a resource (W38.7): scheme and
// host in lower case, no default port, no slash at the end. It is an error if
// the address has no scheme or host, another scheme than http and https, a
// user, a query or a fragment.
func Canonical(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("metadata: the address of the resource is no URL")
	}
	refused := func(why string) (*url.URL, error) {
		return nil, fmt.Errorf("metadata: the address of the resource %s", why)
	}
	u.Scheme = strings.ToLower(u.Scheme)
	switch {
	case u.Scheme != "https" && u.Scheme != "http":
		return refused("is not https")
	case u.Hostname() == "":
		return refused("names no host")
	case u.User != nil:
		return refused("names a user")
	case u.RawQuery != "" || u.ForceQuery:
		return refused("has a query")
	case u.Fragment != "" || strings.HasSuffix(address, "#"):
		return refused("has a fragment")
	}
	u.Host = host(u)
	u.RawPath = strings.TrimRight(u.EscapedPath(), "/")
	if u.Path, err = url.PathUnescape(u.RawPath); err != nil {
		return refused("has a broken path")
	}
	return u, nil
}

// Origin returns scheme and host of u in the form that compares.
func Origin(u *url.URL) string { return strings.ToLower(u.Scheme) + "://" + host(u) }

// host is u's host in lower case, without the scheme's default port.
func host(u *url.URL) string {
	name, port := strings.ToLower(u.Hostname()), u.Port()
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	if port == "" || port == "443" && strings.EqualFold(u.Scheme, "https") || port == "80" && strings.EqualFold(u.Scheme, "http") {
		return name
	}
	return name + ":" + port
}

// Covers tells whether a document for the resource named may speak for target,
// which is canonical: it names the same, or a whole part of its path on the same
// origin, as documents at the root of a host do.
func (r *Resource) Covers(target *url.URL) bool {
	u, err := Canonical(r.Resource)
	if err != nil || Origin(u) != Origin(target) {
		return false
	}
	rest, ok := strings.CutPrefix(target.EscapedPath(), u.EscapedPath())
	return ok && (rest == "" || rest[0] == '/')
}

func text(object []byte, name string) string {
	value, _ := strictjson.Get(object, name)
	out, _ := strictjson.String(value)
	return out
}

func texts(object []byte, name string) (out []string) {
	array, _ := strictjson.Get(object, name)
	strictjson.Elements(array, func(value []byte) bool {
		if item, ok := strictjson.String(value); ok {
			out = append(out, item)
		}
		return len(out) < maxList
	})
	return out
}

func truth(object []byte, name string) bool {
	value, _ := strictjson.Get(object, name)
	return string(value) == "true"
}
