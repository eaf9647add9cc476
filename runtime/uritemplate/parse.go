package uritemplate

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Bounds of a template.
const (
	MaxBytes     = 4 << 10
	MaxVariables = 64
)

// ErrTemplate is what every error of Parse is.
var ErrTemplate = errors.New("no URI template")

// Template is a parsed template. It may be used concurrently.
type Template struct {
	text  string
	parts []part
	names []string
	// literal counts the bytes outside expressions.
	literal int
	match   *regexp.Regexp
	// query are the names of a trailing query, which may come in any order.
	query map[string]bool
}

// part is literal text, or an expression.
type part struct {
	literal string
	op      operator
	names   []string
}

// operator is how an expression is spelt.
type operator struct {
	sign byte
	// first stands before the expression, between separates its variables.
	first, between string
	// named: variables are written name=value.
	named bool
	// reserved: reserved characters stay as they are.
	reserved bool
	// class are the characters that a value may be spelt with, as a class of
	// a regular expression.
	class string
}

const (
	unreservedClass = `[A-Za-z0-9\-._~%]`
	labelClass      = `[A-Za-z0-9\-_~%]`
	reservedClass   = `[A-Za-z0-9\-._~%:/?#\[\]@!$&'()*+,;=]`
)

func operatorOf(sign byte) (operator, bool) {
	switch sign {
	case 0:
		return operator{between: ",", class: unreservedClass}, true
	case '+':
		return operator{sign: sign, between: ",", reserved: true, class: reservedClass}, true
	case '#':
		return operator{sign: sign, first: "#", between: ",", reserved: true, class: reservedClass}, true
	case '.':
		return operator{sign: sign, first: ".", between: ".", class: labelClass}, true
	case '/':
		return operator{sign: sign, first: "/", between: "/", class: unreservedClass}, true
	case ';':
		return operator{sign: sign, first: ";", between: ";", named: true, class: unreservedClass}, true
	case '?':
		return operator{sign: sign, first: "?", between: "&", named: true, class: unreservedClass}, true
	case '&':
		return operator{sign: sign, first: "&", between: "&", named: true, class: unreservedClass}, true
	}
	return operator{}, false
}

// Parse reads a template. Errors wrap ErrTemplate and say what is not legal,
// or legal and not supported: modifiers, a variable that stands twice, a query
// before the end.
func Parse(text string) (*Template, error) {
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("%w: %d bytes, %d are allowed", ErrTemplate, len(text), MaxBytes)
	}
	t := &Template{text: text}
	for rest := text; rest != ""; {
		open := strings.IndexAny(rest, "{}")
		if open < 0 {
			open = len(rest)
		}
		if open > 0 {
			t.parts = append(t.parts, part{literal: rest[:open]})
			t.literal += open
			rest = rest[open:]
			continue
		}
		end := strings.IndexByte(rest, '}')
		if rest[0] == '}' || end < 0 {
			return nil, fmt.Errorf("%w: braces do not match", ErrTemplate)
		}
		p, err := t.expression(rest[1:end])
		if err != nil {
			return nil, err
		}
		t.parts = append(t.parts, p)
		rest = rest[end+1:]
	}
	return t, t.compile()
}

func (t *Template) expression(text string) (part, error) {
	var sign byte
	if text != "" && strings.IndexByte("+#./;?&=,!@|", text[0]) >= 0 {
		sign, text = text[0], text[1:]
	}
	op, ok := operatorOf(sign)
	if !ok {
		return part{}, fmt.Errorf("%w: there is no operator %q", ErrTemplate, sign)
	}
	p := part{op: op, names: strings.Split(text, ",")}
	for _, name := range p.names {
		if strings.ContainsAny(name, "*:") {
			return part{}, fmt.Errorf("%w: %q: modifiers are not supported", ErrTemplate, name)
		}
		if !legalName(name) {
			return part{}, fmt.Errorf("%w: %q is no name of a variable", ErrTemplate, name)
		}
		for _, other := range t.names {
			if other == name {
				return part{}, fmt.Errorf("%w: variable %q stands twice", ErrTemplate, name)
			}
		}
		if t.names = append(t.names, name); len(t.names) > MaxVariables {
			return part{}, fmt.Errorf("%w: more than %d variables", ErrTemplate, MaxVariables)
		}
	}
	return p, nil
}

// legalName: letters, digits and '_', with dots inside.
func legalName(name string) bool {
	if name == "" || name[0] == '.' || name[len(name)-1] == '.' || strings.Contains(name, "..") {
		return false
	}
	for i := range len(name) {
		c := name[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '.' {
			return false
		}
	}
	return true
}

// compile makes the regular expression of all but a trailing query.
func (t *Template) compile() error {
	var b strings.Builder
	b.WriteString(`\A`)
	for i, p := range t.parts {
		if p.op.sign == '?' || p.op.sign == '&' {
			for _, later := range t.parts[i:] {
				if later.literal != "" || later.op.sign != '?' && later.op.sign != '&' {
					return fmt.Errorf("%w: a query must come last", ErrTemplate)
				}
			}
			t.query = map[string]bool{}
			for _, later := range t.parts[i:] {
				for _, name := range later.names {
					t.query[name] = true
				}
			}
			break
		}
		if p.literal != "" {
			b.WriteString(regexp.QuoteMeta(p.literal))
			continue
		}
		p.pattern(&b)
	}
	b.WriteString(`\z`)
	re, err := regexp.Compile(b.String())
	if err != nil {
		return fmt.Errorf("%w: %w", ErrTemplate, err)
	}
	t.match = re
	return nil
}

func (p part) pattern(b *strings.Builder) {
	b.WriteString(regexp.QuoteMeta(p.op.first))
	for i, name := range p.names {
		if i > 0 {
			b.WriteString(regexp.QuoteMeta(p.op.between))
		}
		if p.op.named {
			b.WriteString(regexp.QuoteMeta(name) + "(?:=")
		}
		class := p.op.class
		if class == labelClass && len(p.names) == 1 {
			class = unreservedClass // no other label that dots could separate
		}
		b.WriteString("(" + class + "*)")
		if p.op.named {
			b.WriteString(")?")
		}
	}
}

// String is the template as it was parsed.
func (t *Template) String() string { return t.text }

// Names are the variables in their order; read-only.
func (t *Template) Names() []string { return t.names }

// Literal is how many bytes stand outside expressions: of two templates that
// match, the one with more is the more specific.
func (t *Template) Literal() int { return t.literal }
