// Package cel asks a real API server whether the McpServer kind accepts what
// it should and refuses the rest, each with a message a user can act on.
//
// Every sample in config/samples is created, every one in
// config/samples/refused must be refused, and every rule of the CRD must be
// the one that refuses some sample.
package cel
