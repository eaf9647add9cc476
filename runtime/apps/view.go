package apps

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// View is _meta.ui of a view: what it wants from its host, which may give less.
type View struct {
	CSP         *CSP        `json:"csp,omitempty"`
	Permissions Permissions `json:"permissions,omitzero"`
	// Domain is a dedicated origin, in the form that the host documents.
	Domain string `json:"domain,omitempty"`
	// PrefersBorder asks for a border and background, or for none; nil leaves
	// it to the host.
	PrefersBorder *bool `json:"prefersBorder,omitempty"`
}

// CSP are the origins that a view needs; none is no access. Origins of Resources
// may have a wildcard for subdomains.
type CSP struct {
	Connect   []string `json:"connectDomains,omitempty"`
	Resources []string `json:"resourceDomains,omitempty"`
	Frames    []string `json:"frameDomains,omitempty"`
	BaseURIs  []string `json:"baseUriDomains,omitempty"`
}

// Permissions are the browser's abilities that a view asks for.
type Permissions struct {
	Camera, Microphone, Geolocation, ClipboardWrite bool
}

// names of the permissions, in metadata and in a browser's policy.
func (p *Permissions) names() []struct {
	name, policy string
	on           *bool
} {
	return []struct {
		name, policy string
		on           *bool
	}{
		{"camera", "camera", &p.Camera},
		{"microphone", "microphone", &p.Microphone},
		{"geolocation", "geolocation", &p.Geolocation},
		{"clipboardWrite", "clipboard-write", &p.ClipboardWrite},
	}
}

// MarshalJSON implements json.Marshaler: each permission is an empty object.
func (p Permissions) MarshalJSON() ([]byte, error) {
	out := map[string]struct{}{}
	for _, one := range p.names() {
		if *one.on {
			out[one.name] = struct{}{}
		}
	}
	return json.Marshal(out)
}

// Allow is the allow attribute of the iframe.
func (p Permissions) Allow() string {
	var out []string
	for _, one := range p.names() {
		if *one.on {
			out = append(out, one.policy)
		}
	}
	return strings.Join(out, "; ")
}

// maxOrigins bounds each list of a view.
const maxOrigins = 64

// ViewOf reads a resource's raw _meta. A host uses what it can read: what is no
// origin could end a directive and begin another, and is left out.
func ViewOf(meta []byte) (v View) {
	ui, _ := strictjson.Get(meta, "ui")
	if csp, ok := strictjson.Get(ui, "csp"); ok && strictjson.IsObject(csp) {
		v.CSP = &CSP{
			Connect: origins(csp, "connectDomains"), Resources: origins(csp, "resourceDomains"),
			Frames: origins(csp, "frameDomains"), BaseURIs: origins(csp, "baseUriDomains"),
		}
	}
	permissions, _ := strictjson.Get(ui, "permissions")
	for _, one := range v.Permissions.names() {
		value, _ := strictjson.Get(permissions, one.name)
		*one.on = strictjson.IsObject(value)
	}
	v.Domain = text(ui, "domain")
	if border, ok := strictjson.Get(ui, "prefersBorder"); ok {
		switch string(border) {
		case "true", "false":
			wants := string(border) == "true"
			v.PrefersBorder = &wants
		}
	}
	return v
}

func origins(csp []byte, name string) (out []string) {
	list, _ := strictjson.Get(csp, name)
	strictjson.Elements(list, func(item []byte) bool {
		if one, ok := strictjson.String(item); ok && isOrigin(one) {
			out = append(out, one)
		}
		return len(out) < maxOrigins
	})
	return out
}

// Put writes v into a resource's _meta and leaves the rest of it as it is. The
// error names what is no origin.
func (v View) Put(meta json.RawMessage) (json.RawMessage, error) {
	if v.CSP != nil {
		for _, one := range slices.Concat(v.CSP.Connect, v.CSP.Resources, v.CSP.Frames, v.CSP.BaseURIs) {
			if !isOrigin(one) {
				return nil, fmt.Errorf("apps: %q is no origin", one)
			}
		}
	}
	return put(meta, v)
}

// isOrigin accepts a scheme and a host, with a wildcard in its first label at
// most, and a port; nothing that means something to a policy.
func isOrigin(one string) bool {
	u, err := url.Parse(one)
	if err != nil || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.Opaque != "" || u.ForceQuery {
		return false
	}
	host := strings.TrimPrefix(u.Hostname(), "*.")
	return slices.Contains([]string{"https", "http", "wss", "ws"}, u.Scheme) && host != "" &&
		!strings.ContainsFunc(host, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-.:", r)
		}) && !strings.HasSuffix(one, "#")
}

// Policy is the Content-Security-Policy that a host must not loosen. Without a
// CSP a view reaches nothing.
func (v View) Policy() string {
	resources, connect, frame, base, font := "", "'none'", "'none'", "'self'", ""
	if v.CSP != nil {
		list := func(origins []string) string { return strings.Join(append([]string{""}, origins...), " ") }
		resources, connect, font = list(v.CSP.Resources), "'self'"+list(v.CSP.Connect), "; font-src 'self'"+list(v.CSP.Resources)
		if len(v.CSP.Frames) > 0 {
			frame = strings.Join(v.CSP.Frames, " ")
		}
		if len(v.CSP.BaseURIs) > 0 {
			base = strings.Join(v.CSP.BaseURIs, " ")
		}
	}
	return "default-src 'none'; script-src 'self' 'unsafe-inline'" + resources +
		"; style-src 'self' 'unsafe-inline'" + resources +
		"; img-src 'self' data:" + resources + "; media-src 'self' data:" + resources + font +
		"; connect-src " + connect + "; frame-src " + frame + "; object-src 'none'; base-uri " + base
}
