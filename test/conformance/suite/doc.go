// Package suite knows the protocol's official conformance suite as it is
// installed in this folder by npm: which scenarios a requirement set names, how
// one run of it is started, and what the files that it leaves mean.
//
// It must not know what is tested, nor which result is good enough.
package suite
