// Package streamable is the server side of streamable HTTP: one endpoint that
// serves every revision at the same time, with sessions for those that have a
// handshake and without for those that have not.
//
//	ServeHTTP ─► edge (path, Host, Origin, CORS, who) ─► POST ─► body ─► era ─┬─► modern: envelope, headers ─┐
//	                                                  │                      └─► legacy: session ───────────┤
//	                                                  ├─► GET: standalone stream, or resume                 ▼
//	                                                  └─► DELETE                                     dispatch.Start
//	                                                                                                       │
//	   JSON or event stream, chosen late (W14.18) ◄─ responder ◄─ notifications, reverse calls, outcome ───┘
//
// Validation runs in the order of W16 as amended by P34 and R3. The package
// owns HTTP: status codes, headers, when an answer becomes a stream, and what a
// connection that breaks means. It must not know what a method does.
package streamable
