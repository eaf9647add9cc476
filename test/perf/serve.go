package main

import (
	"context"
	"errors"
)

const (
	// serveRuns alternating runs of serveRequests each; the first of each
	// program warms it and does not count.
	serveRuns     = 25
	serveRequests = 2000
)

// serveRows compares tool calls served by us with an echo.
func serveRows(ctx context.Context, t *table) (err error) {
	var children []*child
	defer func() {
		for _, c := range children {
			err = errors.Join(err, c.stop())
		}
	}()
	begin := func(role string) (*child, error) {
		c, err := start(ctx, role)
		if err == nil {
			children = append(children, c)
		}
		return c, err
	}
	floorJSON, err := begin(roleFloorJSON)
	if err != nil {
		return err
	}
	floorSSE, err := begin(roleFloorSSE)
	if err != nil {
		return err
	}
	ours, err := begin(roleServer)
	if err != nil {
		return err
	}
	typed, err := begin(roleTyped)
	if err != nil {
		return err
	}
	session, err := openSession(ctx, ours.addr)
	if err != nil {
		return err
	}
	typedSession, err := openSession(ctx, typed.addr)
	if err != nil {
		return err
	}
	var (
		echo      = programOf("echo", floorJSON, legacyCall(floorJSON.addr, "", acceptJSON))
		echoEvent = programOf("SSE echo", floorSSE, legacyCall(floorSSE.addr, "", acceptSSE))
		legacy    = programOf("legacy", ours, legacyCall(ours.addr, session, acceptBoth))
		event     = programOf("event", ours, legacyCall(ours.addr, session, acceptSSE))
		modern    = programOf("modern", ours, modernCall(ours.addr))
		bound     = programOf("typed", typed, legacyCall(typed.addr, typedSession, acceptBoth))
	)
	programs := []*program{echo, legacy, modern, echoEvent, event, bound}
	if err := cycle(ctx, programs, serveRuns, serveRequests); err != nil {
		return err
	}
	legacy.against(echo, t, "serve tools/call, JSON", 1.5)
	event.against(echoEvent, t, "serve tools/call, SSE", 1.7)
	modern.against(legacy, t, "2026-07-28 against 2025-11-25", 1.15)
	bound.against(echo, t, "serve a typed tool, JSON", noBar)
	return nil
}
