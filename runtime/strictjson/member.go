package strictjson

// members calls yield for each member of a JSON object with the raw name and
// the offsets of name and value, until it returns false. It returns false when
// data is not one object as far as it was read.
func members(data []byte, yield func(name []byte, nameAt, valueAt, valueEnd int) bool) bool {
	at, ok := open(data, '{')
	if !ok {
		return false
	}
	for done := at < len(data) && data[at] == '}'; !done; {
		nameAt := at
		if at == len(data) || data[at] != '"' {
			return false
		}
		if at, ok = skipString(data, at); !ok {
			return false
		}
		name := data[nameAt:at]
		if at = skipSpace(data, at); at == len(data) || data[at] != ':' {
			return false
		}
		valueAt := skipSpace(data, at+1)
		end, ok := skipValue(data, valueAt)
		if !ok {
			return false
		}
		if !yield(name, nameAt, valueAt, end) {
			return true
		}
		if at, done, ok = next(data, end, '}'); !ok {
			return false
		}
	}
	return true
}

// Get returns the raw value of the member called name, the first one if there
// are several. ok is false when there is none or object is not an object.
func Get(object []byte, name string) (value []byte, ok bool) {
	members(object, func(raw []byte, _, at, end int) bool {
		if !nameIs(raw, name) {
			return true
		}
		value, ok = object[at:end:end], true
		return false
	})
	return value, ok
}

// GetPath follows names through nested objects.
func GetPath(object []byte, names ...string) (value []byte, ok bool) {
	value = object
	for _, name := range names {
		if value, ok = Get(value, name); !ok {
			return nil, false
		}
	}
	return value, ok
}

// Each calls yield for each member in order until it returns false. name is
// decoded and valid only during the call; value aliases object. It returns
// false when object is not an object or breaks off.
func Each(object []byte, yield func(name, value []byte) bool) bool {
	var scratch []byte
	return members(object, func(raw []byte, _, at, end int) bool {
		return yield(unquote(raw, &scratch), object[at:end:end])
	})
}

// Elements calls yield for each element of a JSON array until it returns
// false. It returns false when array is not an array or breaks off.
func Elements(array []byte, yield func(value []byte) bool) bool {
	at, ok := open(array, '[')
	if !ok {
		return false
	}
	for done := at < len(array) && array[at] == ']'; !done; {
		end, ok := skipValue(array, at)
		if !ok {
			return false
		}
		if !yield(array[at:end:end]) {
			return true
		}
		if at, done, ok = next(array, end, ']'); !ok {
			return false
		}
	}
	return true
}

// String decodes a raw JSON string; ok is false for any other value. Unpaired
// surrogates become U+FFFD.
func String(raw []byte) (text string, ok bool) {
	raw = Trim(raw)
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	var scratch []byte
	return string(unquote(raw, &scratch)), true
}

// IsObject reports whether raw begins like an object.
func IsObject(raw []byte) bool { return first(raw) == '{' }

// IsArray reports whether raw begins like an array.
func IsArray(raw []byte) bool { return first(raw) == '[' }

// IsNull reports whether raw is null.
func IsNull(raw []byte) bool { return string(Trim(raw)) == "null" }

// Trim returns raw without the whitespace around it.
func Trim(raw []byte) []byte {
	raw = raw[skipSpace(raw, 0):]
	for len(raw) > 0 && isSpace(raw[len(raw)-1]) {
		raw = raw[:len(raw)-1]
	}
	return raw
}

func first(raw []byte) byte {
	if at := skipSpace(raw, 0); at < len(raw) {
		return raw[at]
	}
	return 0
}
