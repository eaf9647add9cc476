package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
)

// decodeStrict reads exactly one JSON value into v and refuses members that v
// does not have.
func decodeStrict(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
			if u, uerr := strconv.Unquote(name); uerr == nil {
				return &UnknownFieldError{Field: u}
			}
		}
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("data after the end")
	}
	return nil
}

// encodeCanonical writes v, a struct without maps, in the one form that is
// hashed: declaration order, no spaces, no HTML escapes.
func encodeCanonical(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
