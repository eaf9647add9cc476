package paramheader

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// The markers of a value in Base64; they are exact, also in letter case.
const (
	sentinel    = "=?base64?"
	sentinelEnd = "?="
)

// Encode makes the value of a field: the text itself, or its Base64 form where
// a field could not carry the text or would be misread (W15.20).
func Encode(text string) string {
	plain := !strings.HasPrefix(text, sentinel) && strings.Trim(text, " \t") == text
	for i := 0; i < len(text) && plain; i++ {
		plain = text[i] >= ' ' && text[i] < 0x7f
	}
	if plain {
		return text
	}
	return sentinel + base64.StdEncoding.EncodeToString([]byte(text)) + sentinelEnd
}

// Decode reads the value of a field: the Base64 form is decoded (W15.4,
// W15.23), anything else is taken as it is. ok is false for a Base64 form that
// does not decode to UTF-8, and for characters that a field may not hold
// (W15.3, W15.18). Space around the value is none of it (W15.6).
func Decode(value string) (text string, ok bool) {
	value = strings.Trim(value, " \t")
	if inner, found := strings.CutPrefix(value, sentinel); found {
		if inner, found = strings.CutSuffix(inner, sentinelEnd); found {
			decoded, err := base64.StdEncoding.Strict().DecodeString(inner)
			if err != nil || !utf8.Valid(decoded) || strings.ContainsAny(inner, "\r\n") {
				return "", false
			}
			return string(decoded), true
		}
	}
	for i := range len(value) {
		if c := value[i]; c >= 0x7f || c < ' ' && c != '\t' {
			return "", false
		}
	}
	return value, true
}

// Text is a JSON value as a field repeats it (W15.19): a string as it is, an
// integer in decimal however it is spelled, true and false. Other numbers keep
// their spelling. Null, objects and arrays have none.
func Text(raw []byte) (text string, ok bool) {
	if len(raw) == 0 {
		return "", false
	}
	switch raw[0] {
	case '"':
		return strictjson.String(raw)
	case 't', 'f':
		return string(raw), true
	case '{', '[', 'n':
		return "", false
	}
	if n, ok := integer(string(raw)); ok {
		return n, true
	}
	return string(raw), true
}

// equal compares the text of a field with an argument: numbers that are
// integers by value (W15.7), everything else exactly (W15.5).
func equal(field string, raw []byte) bool {
	text, ok := Text(raw)
	if !ok {
		return false
	}
	if field == text {
		return true
	}
	if raw[0] == '"' {
		return false
	}
	n, ok := integer(field)
	return ok && n == text
}

// maxDigits is how many decimal digits an integer may have: 2^53 has 16.
const maxDigits = 16

// integer is the decimal form of a JSON number that is an integer within
// ±(2^53−1) (W15.14), however it is spelled: 42, 42.0, 4.2e1.
func integer(text string) (decimal string, ok bool) {
	digits, negative := strings.CutPrefix(text, "-")
	mantissa, exponent, ok := split(digits)
	if !ok {
		return "", false
	}
	whole, fraction, dotted := strings.Cut(mantissa, ".")
	if !allDigits(whole) || whole == "" || len(whole) > 1 && whole[0] == '0' || dotted && (fraction == "" || !allDigits(fraction)) {
		return "", false
	}
	all := whole + fraction
	point := len(whole) + exponent
	all, point = trim(all, point)
	switch {
	case all == "":
		return "0", true
	case len(all) > point || point > maxDigits: // something after the point, or too long
		return "", false
	}
	all += strings.Repeat("0", point-len(all))
	if len(all) == maxDigits && all > "9007199254740991" {
		return "", false
	}
	if negative {
		all = "-" + all
	}
	return all, true
}

// trim takes zeros off both ends of digits whose decimal point is at point.
func trim(digits string, point int) (string, int) {
	digits = strings.TrimRight(digits, "0")
	for digits != "" && digits[0] == '0' {
		digits = digits[1:]
		point--
	}
	return digits, point
}

// maxExponent bounds what an exponent may say; beyond it no number is an
// integer within the range, unless it is 0.
const maxExponent = 100_000

// split takes the exponent off a number.
func split(text string) (mantissa string, exponent int, ok bool) {
	at := strings.IndexAny(text, "eE")
	if at < 0 {
		return text, 0, true
	}
	digits := text[at+1:]
	negative := strings.HasPrefix(digits, "-")
	if negative || strings.HasPrefix(digits, "+") {
		digits = digits[1:]
	}
	if digits == "" || !allDigits(digits) {
		return "", 0, false
	}
	for i := range len(digits) {
		exponent = min(exponent*10+int(digits[i]-'0'), maxExponent)
	}
	if negative {
		exponent = -exponent
	}
	return text[:at], exponent, true
}

func allDigits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return true
}
