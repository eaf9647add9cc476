// Package client is the client that the conformance suite tests: for each of
// its client scenarios what a person's program would do with runtime/client,
// and no more. What the scenarios are about (headers, envelopes, retries,
// defaults) is the library's doing; a scenario here must not help it.
package client
