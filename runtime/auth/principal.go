package auth

import "strings"

// Principal makes one name of several parts, such as tenant (or issuer) and
// subject, so that different parts never make the same name: each part is
// escaped before they are joined by "|". One part without "%" or "|" is its own
// name.
func Principal(parts ...string) string {
	escaped := make([]string, len(parts))
	for i, p := range parts {
		escaped[i] = escape.Replace(p)
	}
	return strings.Join(escaped, "|")
}

// escape is read only after it is made.
var escape = strings.NewReplacer("%", "%25", "|", "%7C")
