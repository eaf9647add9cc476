// Package load drives many MCP clients of both eras against one endpoint and
// counts what they lose: the measuring side of the rollout tests.
//
// It uses no MCP SDK and not even net/http's client, because both hide what is
// measured here: they retry, reconnect and pool as they like. A client of this
// package writes each request once, on a connection it chose, and whatever
// goes wrong with it is counted.
//
//   - A client of 2026-07-28 has no session. It issues calls at a fixed rate
//     whether earlier ones have returned or not, each on a kept-alive
//     connection of its own pool.
//   - A client of 2025-11-25 has a session and one connection, and calls
//     without pause, one after the other. A call answered 404 was never
//     accepted: the session is over, and the next call goes through a new one.
//     It also holds the session's GET stream, on a second connection.
//
// The package must not be pointed at anything but the machine it runs on and
// the networks of a test cluster on it; Config.Validate refuses other targets.
package load
