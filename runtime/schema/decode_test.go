package schema

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// decodeAsStandard is what decode replaces.
func decodeAsStandard(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errTrailing
	}
	return v, nil
}

// FuzzDecode: the same values as encoding/json, from whatever both take.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[]`, `null`, ` true `, `"a\u0041\ud83d"`, `-0`, `1E400`, `9007199254740993`, `{"a":{"a":[1,[],{}]},"":""}`,
		`{"a":1,"a":2}`, `{"a":1}x`, `[1,]`, `{`, ``, `"\ud83d\ude00"`, "\"\xff\"",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		want, wantErr := decodeAsStandard(raw)
		got, err := decode(raw, everything)
		if (err == nil) != (wantErr == nil) {
			// encoding/json bounds depth by itself; here the scan before does.
			if wantErr == nil || bytes.Count(raw, []byte("[")) < 1000 && bytes.Count(raw, []byte("{")) < 1000 {
				t.Fatalf("%q: %v, encoding/json: %v", raw, err, wantErr)
			}
			return
		}
		if diff := cmp.Diff(want, got); err == nil && diff != "" {
			t.Errorf("%q: %s", raw, diff)
		}
	})
}
