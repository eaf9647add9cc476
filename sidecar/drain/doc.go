// Package drain takes a data plane out of service without losing calls.
//
//	Serving ── Begin ──► Leaving ── propagation ──► Closing ── quiet or time up ──► Drained ── Close ──► Closed
//
//	Leaving  not ready; endpoints move away; everything is still served (P24)
//	Closing  every answer says `Connection: close`, no new sessions, streams
//	         end spread over a window, calls are still served
//	Drained  nothing was in flight for the linger time; what still comes, from
//	         where endpoints have not moved yet, is served as long as it can be.
//	         Or the time was up: what was left was cut, and all is refused
//	Closed   the end: all is refused, listeners may close
//
// A drain is final: there is no way back (O3). The package owns the states,
// their clocks and the count of requests in flight. It must not know what a
// session is or who asked for the drain.
package drain
