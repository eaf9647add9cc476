// Package broken is how rules of the protocol are broken on purpose, so that
// `make rules` can see that their tests notice. It owns the question and knows
// no rule.
//
// In a normal build the answer is a constant: the compiler drops the question
// and what depends on it. With the build tag breakrules the environment names
// the one rule that is broken. Nothing that ships is built with it.
package broken
