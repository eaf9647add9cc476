// Package park keeps calls of a legacy workload in flight while their clients,
// who are of a revision without requests from the server, fetch what the
// workload has asked for (B7): a request of the client ends with questions and
// a sealed state, and the next one brings the answers and waits on.
//
//	workload asks ─► Exchange.Ask ─┐ gather    ┌─► Turn: questions + state
//	workload answers ─► Finish ────┴─► Claim ──┴─► Turn: the final answer
//
// A Claim is one request of the client's turn at the exchange: the first one,
// and one for each retry that brought answers. Requests that repeat a retry
// share its claim (P20).
//
// It owns exchanges, rounds, claims, their clocks and limits, and the sealed
// state. It must not know legs, HTTP or how questions and results are worded
// for clients.
package park
