package schema

import (
	"strings"

	validator "github.com/santhosh-tekuri/jsonschema/v6"
)

// MaxProblems is how many problems an Invalid names; a value may have more.
const MaxProblems = 16

const maxText = 300

// Problem is one way in which a value does not fit.
type Problem struct {
	// Path is a JSON pointer into the value; empty is the whole.
	Path string
	// Message says what is wrong there, in a few words.
	Message string
}

// Invalid says how a value does not fit a schema: a text that a person, or a
// model that made the value, can act on.
type Invalid struct {
	Problems []Problem
	// More: there are further problems.
	More bool
}

// Error implements error, on one line per problem.
func (e *Invalid) Error() string {
	var b strings.Builder
	for i, p := range e.Problems {
		if i > 0 {
			b.WriteByte('\n')
		}
		if p.Path != "" {
			b.WriteString(p.Path)
			b.WriteString(": ")
		}
		b.WriteString(p.Message)
	}
	if e.More {
		b.WriteString("\n…")
	}
	return b.String()
}

// invalid picks the innermost causes: what encloses them says only that
// something inside is wrong.
func invalid(failed *validator.ValidationError) *Invalid {
	out := &Invalid{}
	var walk func(u *validator.OutputUnit)
	walk = func(u *validator.OutputUnit) {
		if u.Error != nil && len(u.Errors) == 0 {
			if len(out.Problems) == MaxProblems {
				out.More = true
				return
			}
			out.Problems = append(out.Problems, Problem{Path: clip(u.InstanceLocation), Message: clip(u.Error.String())})
		}
		for i := range u.Errors {
			walk(&u.Errors[i])
		}
	}
	walk(failed.DetailedOutput())
	if len(out.Problems) == 0 {
		out.Problems = []Problem{{Message: "does not fit the schema"}}
	}
	return out
}

// clip bounds what a value can put into its own refusal.
func clip(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "") + "…"
}
