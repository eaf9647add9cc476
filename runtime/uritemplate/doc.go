// Package uritemplate expands and matches URI templates: RFC 6570 up to level
// 3, without the modifiers of level 4.
//
// Expressions are {a}, {+a}, {#a}, {.a}, {/a,b}, {;a}, {?a,b} and {&a,b}.
// Matching is the reverse of expanding and takes time in proportion to the
// length of the URI: a variable takes as much as it can of the characters that
// expanding may put there; those of a query may come in any order, and may be
// missing.
//
// It must not know resources, nor what values mean.
package uritemplate
