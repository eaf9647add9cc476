package metadata

import (
	"net/url"
	"strings"
)

// The well-known names.
const (
	wellKnown = "/.well-known/"
	// ResourcePath is where the document of a resource without a path is.
	ResourcePath = wellKnown + "oauth-protected-resource"
	// ServerPath is where the document of an issuer without a path is.
	ServerPath = wellKnown + "oauth-authorization-server"
	openID     = wellKnown + "openid-configuration"
)

// ResourceURL is the address of the document of a canonical resource: the
// well-known name goes between host and path (RFC 9728 section 3).
func ResourceURL(resource *url.URL) string {
	return Origin(resource) + ResourcePath + resource.EscapedPath()
}

// resourcePlaces are where to look for the document of a canonical resource
// when nobody said where it is (W38.7).
func resourcePlaces(resource *url.URL) []string {
	places := []string{ResourceURL(resource)}
	if resource.EscapedPath() != "" {
		places = append(places, Origin(resource)+ResourcePath)
	}
	return places
}

// ServerURL is the address of an issuer's document by RFC 8414, where there may
// be none.
func ServerURL(issuer *url.URL) string { return serverPlaces(issuer)[0] }

// serverPlaces are where to look for the document of an issuer, in the order
// that the specification wants.
func serverPlaces(issuer *url.URL) []string {
	origin, path := Origin(issuer), strings.TrimRight(issuer.EscapedPath(), "/")
	if path == "" {
		return []string{origin + ServerPath, origin + openID}
	}
	return []string{origin + ServerPath + path, origin + openID + path, origin + path + openID}
}
