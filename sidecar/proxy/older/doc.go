// Package older turns what a newer server says into what a client of an older
// revision can read (B14): content blocks, structured output and its schemas,
// and the questions a server asks.
//
//	Result ─► edits of a result           Ask ─► params of a reverse request
//
// It is pure: raw bytes in, edits or bytes out, and nothing is touched that the
// client's revision has (B0.3). It must not know who asks or how anything is
// sent. What is not the newer protocol's own (arguments, data) stays as it is.
package older
