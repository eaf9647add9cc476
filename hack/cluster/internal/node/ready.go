package node

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"

	"github.com/fairlead-dev/fairlead/hack/cluster/internal/instance"
	"github.com/fairlead-dev/fairlead/hack/cluster/internal/nodeconf"
)

// apiClient asks the API server as the administrator.
type apiClient struct{ http *http.Client }

func newAPIClient(i instance.Instance) (*apiClient, error) {
	cert, err := tls.LoadX509KeyPair(i.Path("pki", "admin.crt"), i.Path("pki", "admin.key"))
	if err != nil {
		return nil, err
	}
	ca, err := os.ReadFile(i.Path("pki", "ca.crt"))
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, errors.New("ca.crt holds no certificate")
	}
	// No keep-alive: a restarted server must be seen as such.
	return &apiClient{http: &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{Certificates: []tls.Certificate{cert}, RootCAs: pool},
	}}}, nil
}

func (c *apiClient) get(path string) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := fetch(ctx, c.http, instance.APIServer+path)
		return err
	}
}

func (c *apiClient) nodeReady(name string) func(context.Context) error {
	return func(ctx context.Context) error {
		body, err := fetch(ctx, c.http, instance.APIServer+"/api/v1/nodes/"+name)
		if err != nil {
			return err
		}
		return nodeCondition(body)
	}
}

// nodeCondition returns nil when the node in body is Ready, else why not.
func nodeCondition(body []byte) error {
	var node struct {
		Status struct {
			Conditions []struct{ Type, Status, Message string }
		}
	}
	if err := json.Unmarshal(body, &node); err != nil {
		return err
	}
	for _, c := range node.Status.Conditions {
		if c.Type == "Ready" && c.Status != "True" {
			return fmt.Errorf("node is not ready: %s", c.Message)
		}
		if c.Type == "Ready" {
			return nil
		}
	}
	return errors.New("node has no Ready condition yet")
}

// plain checks an endpoint of a component that serves anybody on loopback; its
// certificate, where it has one, is made up at its start.
func plain(url string) func(context.Context) error {
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, // loopback, self-signed at start
	}}
	return func(ctx context.Context) error {
		_, err := fetch(ctx, client, url)
		return err
	}
}

func fetch(ctx context.Context, client *http.Client, url string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", url, resp.Status)
	}
	return body, err
}

// containerdAnswers asks for the version through its socket and for the CRI
// plugin, which is loaded last.
func containerdAnswers(c nodeconf.Config) func(context.Context) error {
	return func(ctx context.Context) error {
		cmd := exec.CommandContext(ctx, c.Tools+"/ctr", "--address", c.ContainerdSocket, "plugins", "ls", "id==cri")
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("ctr: %w: %s", err, out)
		}
		return nil
	}
}
