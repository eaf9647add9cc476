package task

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
)

// ErrEncoding says that bytes are no record of this form.
var ErrEncoding = errors.New("not a task record")

const codecVersion = 1

// Encode makes bytes of a record, for stores outside the process. Only Decode
// reads them; the first byte is the form's version.
func (r *Record) Encode() []byte {
	w := encoder{make([]byte, 0, r.Size())}
	w.b = append(w.b, codecVersion)
	w.number(r.Version)
	for _, s := range []string{r.Key, r.Token, r.Principal, r.Owner, r.Method, string(r.Status), r.Message, r.Runner} {
		w.bytes([]byte(s))
	}
	w.flag(r.IsError)
	for _, t := range []time.Time{r.Created, r.Updated, r.Expires, r.Lease} {
		w.time(t)
	}
	for _, n := range []uint64{r.Changes, uint64(r.TTL), uint64(r.Poll), r.Asked, uint64(len(r.Inputs))} {
		w.number(n)
	}
	for i := range r.Inputs {
		in := &r.Inputs[i]
		for _, s := range []string{in.Key, in.Method, in.Carrier} {
			w.bytes([]byte(s))
		}
		w.optional(in.Params)
		w.optional(in.Result)
		w.fault(in.Err)
		w.time(in.Until)
	}
	w.optional(r.Result)
	w.fault(r.Err)
	return w.b
}

// Decode reads a record; the error is ErrEncoding. The record keeps none of
// data.
func Decode(data []byte) (Record, error) {
	d := decoder{rest: data}
	if d.byte() != codecVersion {
		return Record{}, ErrEncoding
	}
	var r Record
	r.Version = d.number()
	var status string
	for _, s := range []*string{&r.Key, &r.Token, &r.Principal, &r.Owner, &r.Method, &status, &r.Message, &r.Runner} {
		*s = string(d.bytes())
	}
	r.Status = Status(status)
	r.IsError = d.byte() == 1
	for _, t := range []*time.Time{&r.Created, &r.Updated, &r.Expires, &r.Lease} {
		*t = d.time()
	}
	r.Changes, r.TTL, r.Poll, r.Asked = d.number(), time.Duration(d.number()), time.Duration(d.number()), d.number()
	for n := d.number(); n > 0 && !d.failed; n-- {
		var in Input
		for _, s := range []*string{&in.Key, &in.Method, &in.Carrier} {
			*s = string(d.bytes())
		}
		in.Params, in.Result, in.Err, in.Until = d.optional(), d.optional(), d.fault(), d.time()
		r.Inputs = append(r.Inputs, in)
	}
	r.Result, r.Err = d.optional(), d.fault()
	if d.failed || len(d.rest) > 0 {
		return Record{}, ErrEncoding
	}
	return r, nil
}

type encoder struct{ b []byte }

func (w *encoder) number(n uint64) { w.b = binary.AppendUvarint(w.b, n) }

func (w *encoder) bytes(p []byte) {
	w.number(uint64(len(p)))
	w.b = append(w.b, p...)
}

func (w *encoder) flag(is bool) {
	if is {
		w.b = append(w.b, 1)
	} else {
		w.b = append(w.b, 0)
	}
}

func (w *encoder) optional(p []byte) {
	w.flag(p != nil)
	if p != nil {
		w.bytes(p)
	}
}

func (w *encoder) time(t time.Time) {
	w.flag(!t.IsZero())
	if !t.IsZero() {
		w.b = binary.AppendVarint(w.b, t.UnixNano())
	}
}

func (w *encoder) fault(e *jsonrpc.Error) {
	w.flag(e != nil)
	if e == nil {
		return
	}
	w.b = binary.AppendVarint(w.b, e.Code)
	w.bytes([]byte(e.Message))
	w.optional(e.Data)
	w.optional(e.Raw)
}

// decoder reads the form; after a failure everything is zero.
type decoder struct {
	rest   []byte
	failed bool
}

func (d *decoder) fail() { d.failed, d.rest = true, nil }

func (d *decoder) byte() byte {
	if len(d.rest) == 0 {
		d.fail()
		return 0
	}
	b := d.rest[0]
	d.rest = d.rest[1:]
	return b
}

func (d *decoder) number() uint64 {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 {
		d.fail()
		return 0
	}
	d.rest = d.rest[size:]
	return n
}

func (d *decoder) signed() int64 {
	n, size := binary.Varint(d.rest)
	if size <= 0 {
		d.fail()
		return 0
	}
	d.rest = d.rest[size:]
	return n
}

func (d *decoder) bytes() []byte {
	n := d.number()
	if n > uint64(len(d.rest)) {
		d.fail()
		return nil
	}
	out := make([]byte, n)
	copy(out, d.rest)
	d.rest = d.rest[n:]
	return out
}

func (d *decoder) optional() []byte {
	if d.byte() != 1 {
		return nil
	}
	return d.bytes()
}

func (d *decoder) time() time.Time {
	if d.byte() != 1 {
		return time.Time{}
	}
	return time.Unix(0, d.signed())
}

func (d *decoder) fault() *jsonrpc.Error {
	if d.byte() != 1 {
		return nil
	}
	return &jsonrpc.Error{Code: d.signed(), Message: string(d.bytes()), Data: d.optional(), Raw: d.optional()}
}
