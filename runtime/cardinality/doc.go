// Package cardinality reads members that come as one value or as a list,
// whichever the sender thought right, and writes them as the specification has
// them. Implementations differ in content and contents, prompts and sampling
// among them, and revisions do too: what is one block up to 2025-06-18 may be a
// list from 2025-11-25 on.
//
// There are two views. For typed code, [List], [One] and [OneOrMore] are types of
// members. For bytes that only pass through, [ToolResult] and its like change a
// message where it must be changed, return it as it came where it need not be,
// and keep every other byte (P26).
//
// The package knows the members, not who sends what when; revisions reach it as
// "may this be a list".
package cardinality
