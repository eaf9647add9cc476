// Package schema makes JSON Schemas of Go types and checks values against
// schemas, in dialect 2020-12 unless a schema names another that is known
// (draft 4 to 2019-09; W25.1).
//
// It owns the two libraries that do the work and the bounds around them:
// schemas are compiled once, of limited size, depth and number of parts
// (W25.5), and nothing is ever loaded: a $ref that leaves the document is
// refused when the schema is compiled, whatever it points to (W25.3, W25.4).
//
// It must not know MCP's methods, nor who published a schema.
package schema
