package stream_test

import (
	"errors"
	"io"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/stream"
)

// A connection that comes late for its own stream gets what is left, and an id
// to come back with.
func TestTheFirstReaderComesLate(t *testing.T) { // P2, P3
	for name, test := range map[string]struct {
		sent  int
		prime uint64
		left  string
	}{
		"before anything is lost": {sent: 3, prime: 1, left: "1 2 3"},
		"when some is lost":       {sent: 15, prime: 6, left: "6 7 8 9 10 11 12 13 14 15"},
	} {
		t.Run(name, func(t *testing.T) {
			s := stream.Store{Limits: stream.Limits{Events: 10}}
			st := open(t, &s, "h")
			defer st.Drop()
			send(t, st, 1, test.sent)
			st.End()
			r, err := st.First()
			if err != nil {
				t.Fatal(err)
			}
			if r.Prime != test.prime {
				t.Errorf("the first id is %d, want %d", r.Prime, test.prime)
			}
			want(t, r, test.left, io.EOF)
			r.Close()
			r = attach(t, st, test.prime) // nothing but the id had arrived
			want(t, r, test.left, io.EOF)
			r.Close()
		})
	}
	s := stream.Store{Limits: stream.Limits{Events: 10}}
	st := open(t, &s, "h")
	st.Drop()
	if _, err := st.First(); !errors.Is(err, stream.ErrEnded) {
		t.Errorf("of a stream that is no more: %v", err)
	}
}
