package main

import (
	"context"
	"errors"
	"fmt"
)

// Sessions that are opened before and between the two looks.
const (
	idleBefore = 500
	idleSample = 8000
)

// idleRows measures what a session holds that nobody uses.
func idleRows(ctx context.Context, t *table) (err error) {
	c, err := start(ctx, roleServer)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	open := func(n int) (usage, error) {
		w, err := dialWire(ctx, c.addr)
		if err != nil {
			return usage{}, err
		}
		for range n {
			if _, err := handshake(w, c.addr); err != nil {
				w.close()
				return usage{}, err
			}
		}
		w.close()
		return c.ask(askSettled)
	}
	before, err := open(idleBefore)
	if err != nil {
		return err
	}
	after, err := open(idleSample)
	if err != nil {
		return err
	}
	t.add(result{
		what: "idle session", figure: float64(after.Heap-before.Heap) / idleSample, bar: 1536, unit: " bytes",
		detail: fmt.Sprintf("%d sessions", idleSample),
	})
	t.add(result{
		what: "idle session", figure: float64(after.Goroutines-before.Goroutines) / idleSample, bar: 0, unit: " goroutines",
		detail: fmt.Sprintf("%d before, %d after", before.Goroutines, after.Goroutines),
	})
	return nil
}
