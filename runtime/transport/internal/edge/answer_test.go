package edge

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// timed is a ResponseWriter of which the deadline is known.
type timed struct {
	*httptest.ResponseRecorder
	deadline time.Time
}

func (t *timed) SetWriteDeadline(at time.Time) error {
	t.deadline = at
	return nil
}

// P33.10: each write has its time, and so has what net/http writes once the
// handler has returned.
func TestWritesHaveTheirTime(t *testing.T) {
	for name, write := range map[string]func(a *Answer){
		"a whole answer":  func(a *Answer) { a.JSON(http.StatusOK, []byte(`{}`)) },
		"no message":      (*Answer).Accepted,
		"nothing":         (*Answer).NoContent,
		"a head":          (*Answer).StreamHead,
		"an event":        func(a *Answer) { (&Events{Answer: a, Buf: []byte("data: x\n\n")}).Flush() },
		"a stream's end":  func(a *Answer) { a.StreamHead(); time.Sleep(time.Hour); a.End() },
		"a stream's word": func(a *Answer) { a.StreamHead(); time.Sleep(time.Hour); (&Events{Answer: a}).Flush() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &timed{ResponseRecorder: httptest.NewRecorder()}
				a := &Answer{W: w, WriteTimeout: time.Minute, Draining: new(atomic.Bool)}
				write(a)
				if left := time.Until(w.deadline); left != time.Minute {
					t.Errorf("it has %v", left)
				}
				before := w.deadline
				time.Sleep(time.Second)
				if a.End(); !a.streams && w.deadline != before {
					t.Error("an answer that is written got more time")
				}
			})
		})
	}
}

// Whoever reads an answer knows its length, whether net/http tells it or we.
func TestAnswersHaveALength(t *testing.T) {
	for _, size := range []int{0, 1, measured, measured + 1, 100_000} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			a := &Answer{W: w, WriteTimeout: time.Minute, Draining: new(atomic.Bool)}
			defer a.End()
			if size == 0 {
				a.Accepted()
				return
			}
			a.JSON(http.StatusOK, make([]byte, size))
		}))
		resp, err := s.Client().Get(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.ContentLength != int64(size) || resp.Header.Get("Content-Length") != strconv.Itoa(size) {
			t.Errorf("%d bytes: length %d, %v", size, resp.ContentLength, resp.Header)
		}
		s.Client().CloseIdleConnections()
		s.Close()
	}
}
