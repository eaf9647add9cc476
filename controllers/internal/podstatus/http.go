package podstatus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/fairlead-dev/fairlead/sidecar/config"
)

// maxBody bounds one answer. A status with the longest stderr tail is far
// smaller.
const maxBody = 64 << 10

// HTTP reads statuses over the pod network. Safe for concurrent use; nothing
// is kept open between calls.
type HTTP struct{ client *http.Client }

// NewHTTP returns an HTTP whose every call ends within timeout.
func NewHTTP(timeout time.Duration) *HTTP {
	return &HTTP{client: &http.Client{
		Timeout: timeout,
		// Pods are addressed directly: the environment's proxies are for the
		// API server, if for anything.
		Transport: &http.Transport{
			DialContext:            (&net.Dialer{Timeout: timeout}).DialContext,
			DisableKeepAlives:      true,
			DisableCompression:     true,
			MaxResponseHeaderBytes: 16 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return errors.New("a status is never redirected")
		},
	}}
}

// Get reads the status of the pod at ip. Members that this build does not know
// are ignored: the sidecar may be newer.
func (h *HTTP) Get(ctx context.Context, ip string) (config.Status, error) {
	url := "http://" + net.JoinHostPort(ip, strconv.Itoa(config.PortAdmin)) + config.PathStatus
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return config.Status{}, err
	}
	resp, err := h.client.Do(req)
	if err != nil {
		return config.Status{}, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return config.Status{}, fmt.Errorf("status answered %d", resp.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err != nil {
		return config.Status{}, fmt.Errorf("reading a status: %w", err)
	}
	if len(body) > maxBody {
		return config.Status{}, fmt.Errorf("a status of more than %d bytes", maxBody)
	}
	var s config.Status
	if err := json.Unmarshal(body, &s); err != nil {
		return config.Status{}, fmt.Errorf("a status that cannot be read: %w", err)
	}
	return s, nil
}
