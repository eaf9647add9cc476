// Package wireschema judges recorded messages by the protocol's own JSON
// schemas, each by that of its revision and by the most exact definition that
// the schema has for it.
//
// The schemas are not part of this repository. It must not know how messages
// are recorded beyond package record, nor which program sent them.
package wireschema
