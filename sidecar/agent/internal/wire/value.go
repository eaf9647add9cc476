package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// read sets *to from an optional member by way of parse.
func read[T any](m map[string]json.RawMessage, name string, to *T, parse func(json.RawMessage) (T, error)) error {
	raw, ok := m[name]
	if !ok {
		return nil
	}
	v, err := parse(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	*to = v
	return nil
}

// number sets *to from a member that must be there.
func number(m map[string]json.RawMessage, name string, to *int) error {
	if _, ok := m[name]; !ok {
		return fmt.Errorf("%s: missing", name)
	}
	var v int64
	if err := read(m, name, &v, integer); err != nil {
		return err
	}
	if v < math.MinInt32 || v > math.MaxInt32 {
		return fmt.Errorf("%s: out of range", name)
	}
	*to = int(v)
	return nil
}

func text(raw json.RawMessage) (string, error) {
	if len(raw) == 0 || raw[0] != '"' { // Unmarshal takes null for ""
		return "", errors.New("not a string")
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err
}

func way(raw json.RawMessage) (string, error) {
	s, err := text(raw)
	if err == nil && s != WayDescriptors && s != WayRelay {
		err = fmt.Errorf("%.40q is no way", s)
	}
	return s, err
}

func integer(raw json.RawMessage) (int64, error) {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		return 0, errors.New("not an integer")
	}
	return n, nil
}

func list(raw json.RawMessage) ([]string, error) {
	if len(raw) == 0 || raw[0] != '[' {
		return nil, errors.New("not an array")
	}
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return nil, err
	}
	out := make([]string, len(items))
	for i, item := range items {
		s, err := text(item)
		if err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
		out[i] = s
	}
	return out, nil
}

func texts(raw json.RawMessage) (map[string]string, error) {
	m, err := object(raw)
	if err != nil {
		return nil, err
	}
	out := make(map[string]string, len(m))
	for name, value := range m {
		s, err := text(value)
		if err != nil {
			return nil, fmt.Errorf("%.40q: %w", name, err)
		}
		out[name] = s
	}
	return out, nil
}

func empty(raw json.RawMessage) (*Empty, error) {
	m, err := object(raw)
	if err == nil {
		err = only(m)
	}
	if err != nil {
		return nil, err
	}
	return &Empty{}, nil
}
