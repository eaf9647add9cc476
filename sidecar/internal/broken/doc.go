// Package broken is how rules of the bridge are broken on purpose, so that
// `make rules` can see that their tests notice: runtime/internal/broken for the
// sidecar. It owns the question and knows no rule.
//
// In a normal build the answer is a constant, and the compiler drops the
// question. With the build tag breakrules the environment names the one rule
// that is broken. Nothing that ships is built with it.
package broken
