package supervisor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

// ActionTimeout bounds hold, release and restart, including the wait for the
// unit to be stopped, or ready again.
const ActionTimeout = 2 * time.Minute

// Handler serves the control interface: GET /units, and POST
// /units/{name}/{hold,release,restart}, each of which answers when it is done.
func (s *Supervisor) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /units", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(s.Status())
	})
	mux.HandleFunc("POST /units/{name}/{action}", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), ActionTimeout)
		defer cancel()
		err := s.act(ctx, r.PathValue("name"), r.PathValue("action"))
		switch {
		case errors.Is(err, errUnknown):
			http.Error(w, err.Error(), http.StatusNotFound)
		case err != nil:
			http.Error(w, err.Error(), http.StatusGatewayTimeout)
		}
	})
	return mux
}

var errUnknown = errors.New("unknown")

func (s *Supervisor) act(ctx context.Context, name, action string) error {
	u := s.find(name)
	if u == nil {
		return fmt.Errorf("%w component %q", errUnknown, name)
	}
	starts := u.snapshot().Starts
	switch action {
	case "hold":
		u.kill(true)
		return u.wait(ctx, func() bool { return u.status.State == Held })
	case "release":
		u.release()
		return u.wait(ctx, func() bool { return u.status.State == Ready })
	case "restart":
		u.kill(false)
		return u.wait(ctx, func() bool { return u.status.Starts > starts && u.status.State == Ready })
	}
	return fmt.Errorf("%w action %q", errUnknown, action)
}

// Client talks to a Handler behind a unix socket.
type Client struct {
	http *http.Client
}

// NewClient needs no server yet; each call dials anew.
func NewClient(socket string) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}
	return &Client{http: &http.Client{
		Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true},
		Timeout:   ActionTimeout + 10*time.Second,
	}}
}

// Units returns the state of every component.
func (c *Client) Units(ctx context.Context) ([]Status, error) {
	body, err := c.do(ctx, http.MethodGet, "/units")
	if err != nil {
		return nil, err
	}
	var out []Status
	return out, json.Unmarshal(body, &out)
}

// Act performs hold, release or restart on a component and waits for its effect.
func (c *Client) Act(ctx context.Context, name, action string) error {
	_, err := c.do(ctx, http.MethodPost, "/units/"+url.PathEscape(name)+"/"+action)
	return err
}

func (c *Client) do(ctx context.Context, method, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://node"+path, nil)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s", body)
	}
	return body, err
}
