package uritemplate

import (
	"strings"
)

// Match finds the values with which the template expands to a URI. ok is false
// when there are none, a percent escape is broken, or a query names something
// twice or something else. Variables of a query that are missing are left out.
func (t *Template) Match(uri string) (values map[string]string, ok bool) {
	path, query := uri, ""
	if t.query != nil {
		if path, query, ok = t.split(uri); !ok {
			return nil, false
		}
	}
	found := t.match.FindStringSubmatch(path)
	if found == nil {
		return nil, false
	}
	values = make(map[string]string, len(t.names))
	i := 1
	for _, name := range t.names {
		if t.query[name] {
			continue
		}
		if values[name], ok = decode(found[i]); !ok {
			return nil, false
		}
		i++
	}
	if query != "" && !t.pairs(query, values) {
		return nil, false
	}
	return values, true
}

// split cuts the query that the template's expressions stand for. With {&…}
// the literal part has a query of its own.
func (t *Template) split(uri string) (path, query string, ok bool) {
	for i := range t.parts {
		switch t.parts[i].op.sign {
		case '?':
			path, query, _ = strings.Cut(uri, "?")
			return path, query, true
		case '&':
			start := strings.IndexByte(uri, '?')
			if start < 0 {
				return "", "", false
			}
			// As many pairs as the literal has stay with it.
			keep := strings.Count(strings.Join(t.literals(), ""), "&")
			end := start
			for ; keep >= 0; keep-- {
				next := strings.IndexByte(uri[end+1:], '&')
				if next < 0 {
					return uri, "", true
				}
				end += 1 + next
			}
			return uri[:end], uri[end+1:], true
		}
	}
	return uri, "", true
}

func (t *Template) literals() []string {
	var out []string
	for _, p := range t.parts {
		out = append(out, p.literal)
	}
	return out
}

func (t *Template) pairs(query string, values map[string]string) bool {
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if _, twice := values[name]; twice || !t.query[name] {
			return false
		}
		decoded, ok := decode(value)
		if !ok {
			return false
		}
		values[name] = decoded
	}
	return true
}

// decode undoes percent escapes.
func decode(text string) (string, bool) {
	if !strings.Contains(text, "%") {
		return text, true
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '%' {
			b.WriteByte(text[i])
			continue
		}
		if i+2 >= len(text) {
			return "", false
		}
		hi, lo := unhex(text[i+1]), unhex(text[i+2])
		if hi < 0 || lo < 0 {
			return "", false
		}
		b.WriteByte(byte(hi<<4 | lo))
		i += 2
	}
	return b.String(), true
}

func unhex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// Expand puts values in. A variable without a value is left out with its
// separator.
func (t *Template) Expand(values map[string]string) string {
	var b strings.Builder
	for _, p := range t.parts {
		if p.literal != "" {
			b.WriteString(p.literal)
			continue
		}
		before := p.op.first
		for _, name := range p.names {
			value, ok := values[name]
			if !ok {
				continue
			}
			b.WriteString(before)
			before = p.op.between
			if p.op.named {
				b.WriteString(name)
				if value != "" || p.op.sign != ';' {
					b.WriteByte('=')
				}
			}
			escape(&b, value, p.op.reserved)
		}
	}
	return b.String()
}

func escape(b *strings.Builder, value string, reserved bool) {
	const digits = "0123456789ABCDEF"
	for i := range len(value) {
		c := value[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0 ||
			reserved && strings.IndexByte(":/?#[]@!$&'()*+,;=", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(digits[c>>4])
		b.WriteByte(digits[c&15])
	}
}
