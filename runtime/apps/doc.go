// Package apps is what both sides of the MCP Apps extension say to each other
// (W37.1): who can show views, which view a tool has and who may call it, and
// what a view wants from the browser it runs in.
//
// A view is a resource with a ui:// address and HTML of a MIME type of its own. A
// tool points to it in _meta.ui; a host that knows the extension shows the tool's
// result in it, any other reads the result's text. The extension is negotiated in
// capabilities, in every revision, so that only the _meta of tools limits where
// it works (2025-06-18 and later).
//
// The package works on raw JSON and knows no server and no client; how a server
// offers views is appserver's matter, and what happens in the iframe the host's.
package apps
