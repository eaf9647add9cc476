package desired

import (
	"encoding/json"
	"fmt"
)

// convert turns a core type of the spec into its apply configuration, which
// has the same JSON. Only set fields travel, so we own what the user set.
func convert[T any](src any) (*T, error) {
	data, err := json.Marshal(src)
	if err != nil {
		return nil, fmt.Errorf("encoding %T: %w", src, err)
	}
	out := new(T)
	if err := json.Unmarshal(data, out); err != nil {
		return nil, fmt.Errorf("%T as %T: %w", src, out, err)
	}
	return out, nil
}

// convertAll is convert for a list.
func convertAll[T, S any](src []S) ([]*T, error) {
	out := make([]*T, 0, len(src))
	for i := range src {
		v, err := convert[T](&src[i])
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}
