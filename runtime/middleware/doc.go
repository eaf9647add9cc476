// Package middleware is the one mechanism behind all four stacks of the
// runtime: what a server receives and sends, and what a client sends and
// receives (D4). A stack sees requests, responses and notifications of its
// direction, reverse ones included, each exactly once, whatever revision and
// transport they travel by.
//
//	             server                          client
//	Receive  requests, notifications,        reverse requests, notifications,
//	         answers to reverse requests     responses
//	Send     responses, notifications,       requests, notifications,
//	         reverse requests                answers to reverse requests
//
// A link wraps the next handler. For a request, next returns when it has been
// answered, with the outcome, so that a link may look at it, change it, or
// answer without calling next. For a notification and a response next returns
// when it has been handed on, with the zero Outcome; not calling next drops it.
// An answer is thereby seen twice by a program that fills both stacks of one
// side, once as the outcome of the request that it received, and once as the
// response that it sends; a stack sees it once. A response can be changed but
// not dropped: when a link does not call next, the request is answered by an
// internal error.
//
// Stacks see what is said between the two sides. What is refused before it
// becomes a message of the conversation (broken JSON, an unknown session), and
// answers to nothing, are counted by hooks.
//
// The package also has links that programs need often, each of a few dozen
// lines and usable alone. It knows nothing of transports, sessions or
// dispatch, which run the stacks.
package middleware
