package auth

import "strings"

// Bounds of what is read of a WWW-Authenticate field; the rest is left.
const (
	maxChallengeBytes = 16 << 10
	maxChallenges     = 16
	maxParams         = 32
)

// ParseChallenges reads all values of WWW-Authenticate. Several challenges may
// share a value, and one may be among others' parameters: the grammar tells them
// apart only by what follows a word. What makes no sense is skipped, because a
// broken challenge of one scheme must not hide a good one of another. Values of
// parameters may come without quotation marks, as some servers write addresses.
func ParseChallenges(values []string) []Challenge {
	var out []Challenge
	left := maxChallengeBytes
	for _, value := range values {
		if len(value) > left {
			break
		}
		left -= len(value)
		p := challengeParser{text: value, out: out}
		p.parse()
		out = p.out
	}
	return out
}

type challengeParser struct {
	text string
	at   int
	out  []Challenge
	open bool // the last challenge takes parameters
}

func (p *challengeParser) parse() {
	for {
		p.skip(" \t,")
		if p.at == len(p.text) {
			return
		}
		word := p.word()
		if word == "" {
			p.broken()
			continue
		}
		after := p.at
		p.skip(" \t")
		switch {
		case p.open && p.peek() == '=':
			p.at++
			p.param(word)
		case after == len(p.text) || strings.IndexByte(" \t,", p.text[after]) >= 0:
			if len(p.out) == maxChallenges {
				return
			}
			p.scheme(word)
		default:
			p.broken()
		}
	}
}

// scheme begins a challenge, and takes its token68 if that is what follows.
func (p *challengeParser) scheme(word string) {
	p.out = append(p.out, Challenge{Scheme: word, Params: map[string]string{}})
	p.open = true
	start := p.at
	for p.at < len(p.text) && strings.IndexByte(" \t,\"", p.text[p.at]) < 0 {
		p.at++
	}
	candidate := p.text[start:p.at]
	end := p.at
	p.skip(" \t")
	// A parameter ends in a value, a token68 in its padding; one word alone
	// before a comma can only be the latter.
	if closed := p.at == len(p.text) || p.text[p.at] == ','; closed && end > start && isB64Token(candidate) {
		p.out[len(p.out)-1].Token68 = candidate
		p.open = false
		return
	}
	p.at = start
}

func (p *challengeParser) param(name string) {
	p.skip(" \t")
	var value string
	ok := true
	if p.peek() == '"' {
		value, ok = p.quotedString()
	} else {
		start := p.at
		for p.at < len(p.text) && strings.IndexByte(" \t,", p.text[p.at]) < 0 {
			p.at++
		}
		value = p.text[start:p.at]
	}
	params := p.out[len(p.out)-1].Params
	name = strings.ToLower(name)
	if _, twice := params[name]; ok && !twice && len(params) < maxParams {
		params[name] = value
	}
}

// quotedString reads one; ok is false when it has no end.
func (p *challengeParser) quotedString() (text string, ok bool) {
	var b strings.Builder
	for p.at++; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '"':
			p.at++
			return b.String(), true
		case c == '\\' && p.at+1 < len(p.text):
			p.at++
			b.WriteByte(p.text[p.at])
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}

// broken goes on behind the next comma that is in no quotation marks.
func (p *challengeParser) broken() {
	for p.at < len(p.text) && p.text[p.at] != ',' {
		if p.text[p.at] == '"' {
			p.quotedString()
			continue
		}
		p.at++
	}
}

func (p *challengeParser) word() string {
	start := p.at
	for p.at < len(p.text) && isTokenByte(p.text[p.at]) {
		p.at++
	}
	return p.text[start:p.at]
}

func (p *challengeParser) skip(set string) {
	for p.at < len(p.text) && strings.IndexByte(set, p.text[p.at]) >= 0 {
		p.at++
	}
}

// peek returns the next byte, 0 at the end.
func (p *challengeParser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

// isToken tells whether text is a token of RFC 9110.
func isToken(text string) bool {
	for i := range len(text) {
		if !isTokenByte(text[i]) {
			return false
		}
	}
	return text != ""
}

func isTokenByte(c byte) bool {
	return c > ' ' && c < 0x7f && strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) < 0
}
