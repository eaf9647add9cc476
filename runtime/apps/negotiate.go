package apps

import (
	"encoding/json"
	"mime"
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Extension is the identifier of the extension in capabilities.
const Extension = "io.modelcontextprotocol/ui"

// MIMEType is the type of a view's HTML, the only one so far.
const MIMEType = "text/html;profile=mcp-app"

// Scheme is how the address of a view begins.
const Scheme = "ui://"

// ClientSettings are what a host declares under Extension: the types of views
// that it shows; none given means MIMEType.
func ClientSettings(mimeTypes ...string) json.RawMessage {
	if len(mimeTypes) == 0 {
		mimeTypes = []string{MIMEType}
	}
	raw, _ := json.Marshal(map[string][]string{"mimeTypes": mimeTypes}) // strings always encode
	return raw
}

// Shown tells whether a client with these capabilities shows views. Settings
// without types, or of another shape, declare nothing.
func Shown(clientCapabilities []byte) bool {
	types, _ := strictjson.GetPath(clientCapabilities, "extensions", Extension, "mimeTypes")
	shown := false
	strictjson.Elements(types, func(item []byte) bool {
		text, _ := strictjson.String(item)
		shown = IsView(text)
		return !shown
	})
	return shown
}

// IsView tells whether a MIME type is that of a view, however it is spelt.
func IsView(mimeType string) bool {
	kind, params, err := mime.ParseMediaType(mimeType)
	return err == nil && kind == "text/html" && strings.EqualFold(params["profile"], "mcp-app")
}
