package cardinality

import (
	"encoding/json"
	"errors"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// ErrEmpty: an empty list where there must be a value.
var ErrEmpty = errors.New("cardinality: an empty list where one value must be")

// List is a member that is a list. It reads a bare value as a list of one, null
// as none, and writes a list always.
type List[T any] []T

// UnmarshalJSON implements json.Unmarshaler.
func (l *List[T]) UnmarshalJSON(raw []byte) error {
	items, err := read[T](raw)
	*l = items
	return err
}

// MarshalJSON implements json.Marshaler.
func (l List[T]) MarshalJSON() ([]byte, error) {
	if l == nil {
		return []byte("[]"), nil
	}
	return json.Marshal([]T(l))
}

// One is a member that is one value. It reads a list as its first item and keeps
// the others in Rest, which is never written.
type One[T any] struct {
	Value T
	Rest  []T
}

// UnmarshalJSON implements json.Unmarshaler. An empty list is ErrEmpty.
func (o *One[T]) UnmarshalJSON(raw []byte) error {
	if !strictjson.IsArray(raw) {
		*o = One[T]{}
		return json.Unmarshal(raw, &o.Value)
	}
	items, err := read[T](raw)
	if err != nil {
		return err
	}
	if len(items) == 0 {
		return ErrEmpty
	}
	o.Value, o.Rest = items[0], items[1:]
	return nil
}

// MarshalJSON implements json.Marshaler.
func (o One[T]) MarshalJSON() ([]byte, error) { return json.Marshal(o.Value) }

// OneOrMore is a member that may be either, as the content of sampling from
// 2025-11-25 on. One item is written bare, which every revision reads.
type OneOrMore[T any] []T

// UnmarshalJSON implements json.Unmarshaler.
func (l *OneOrMore[T]) UnmarshalJSON(raw []byte) error {
	items, err := read[T](raw)
	*l = items
	return err
}

// MarshalJSON implements json.Marshaler.
func (l OneOrMore[T]) MarshalJSON() ([]byte, error) {
	if len(l) == 1 {
		return json.Marshal(l[0])
	}
	return List[T](l).MarshalJSON()
}

func read[T any](raw []byte) ([]T, error) {
	if strictjson.IsNull(raw) {
		return nil, nil
	}
	if strictjson.IsArray(raw) {
		items := []T{}
		err := json.Unmarshal(raw, &items)
		return items, err
	}
	var one T
	if err := json.Unmarshal(raw, &one); err != nil {
		return nil, err
	}
	return []T{one}, nil
}
