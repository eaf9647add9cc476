// Package token is the client's side of authorization: it has tokens ready for
// requests to one MCP server, and finds out what to do when the server wants
// another.
//
//	Authorize  ─ a token is there ──────────────► Authorization: Bearer …
//	   │                                                   │
//	   └─ none, or it ends soon ─► Source.Token      401 or 403 (W38.2)
//	                                    ▲                  │
//	            Need{Scopes, Discover} ◄┴── Challenged ◄───┘
//
// A token goes to the origin of its server and nowhere else, whatever redirects
// and metadata say, and never over plain HTTP to another machine. A refused
// token is replaced once and the request made again; so are scopes, of which
// the union of all that were ever asked for is asked for. What does not help is
// not tried again at once: neither the server nor the authorization server is
// hammered.
//
// How a token comes about (a file, a login, a grant) is the [Source]'s; where
// the authorization server is can be asked of the Need. The package must not
// know MCP.
package token
