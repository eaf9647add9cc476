package main

import (
	"context"
	"errors"
	"slices"
)

// fleet is the processes of a group of rows.
type fleet struct {
	ctx   context.Context
	stops []func() error
}

// child starts this program in a role.
func (f *fleet) child(role string) (*child, error) {
	c, err := start(f.ctx, role)
	if err == nil {
		f.stops = append(f.stops, c.stop)
	}
	return c, err
}

// foreign starts another program.
func (f *fleet) foreign(addr string, argv ...string) (*foreign, error) {
	p, err := startForeign(f.ctx, addr, argv...)
	if err == nil {
		f.stops = append(f.stops, p.stop)
	}
	return p, err
}

// stop ends them all, those that ask others first.
func (f *fleet) stop() (err error) {
	for _, stop := range slices.Backward(f.stops) {
		err = errors.Join(err, stop())
	}
	return err
}
