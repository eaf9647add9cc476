package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// reader is a decoder that is used again, with the bytes it reads.
type reader struct {
	bytes.Reader
	decoder jsontext.Decoder
}

var readers = sync.Pool{New: func() any { return new(reader) }}

// decode makes the Go value that the validator works on: maps, slices,
// strings, json.Number, bool, nil. Like encoding/json, and unlike jsontext by
// itself, it lets names repeat and lone surrogates pass: what may come in was
// decided before (P8). Arrays and objects that lie deeper than some levels are
// empty.
func decode(raw []byte, levels int) (any, error) {
	r := readers.Get().(*reader)
	defer func() {
		r.Reader.Reset(nil)
		readers.Put(r)
	}()
	r.Reader.Reset(raw)
	r.decoder.Reset(&r.Reader, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	v, err := value(&r.decoder, levels)
	if err != nil {
		return nil, err
	}
	if _, err := r.decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errTrailing
	}
	return v, nil
}

func value(d *jsontext.Decoder, levels int) (any, error) {
	if levels == 0 {
		switch d.PeekKind() {
		case '[':
			return []any{}, d.SkipValue()
		case '{':
			return map[string]any{}, d.SkipValue()
		}
	}
	t, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch t.Kind() {
	case 'n':
		return nil, nil
	case 't', 'f':
		return t.Bool(), nil
	case '"':
		return t.String(), nil
	case '0':
		return json.Number(t.String()), nil
	case '[':
		out := []any{}
		for d.PeekKind() != ']' {
			v, err := value(d, levels-1)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		_, err := d.ReadToken()
		return out, err
	}
	out := map[string]any{}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		text := name.String()
		if out[text], err = value(d, levels-1); err != nil {
			return nil, err
		}
	}
	_, err = d.ReadToken()
	return out, err
}
