// Package registry serves and fills the node's loopback registry. It answers
// 404 at once for what it does not have; that is what tests of unknown images
// need. Blobs lie on disk, the list of manifests lives as long as the process.
package registry

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"

	"github.com/google/go-containerregistry/pkg/name"
	ggcr "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// Serve listens on address, for kubelets, and on the unix socket, for pushes from
// outside the node's network, until one of them fails.
func Serve(address, socket, blobs string, logTo io.Writer) error {
	if err := os.MkdirAll(blobs, 0o755); err != nil {
		return err
	}
	h := ggcr.New(ggcr.WithBlobHandler(ggcr.NewDiskBlobHandler(blobs)), ggcr.Logger(log.New(logTo, "", log.LstdFlags)))
	tcp, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(socket); err != nil { // of a killed predecessor
		return err
	}
	unix, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	failed := make(chan error, 2)
	for _, ln := range []net.Listener{tcp, unix} {
		go func() { failed <- http.Serve(ln, h) }() // loopback inside the node: nobody to keep waiting
	}
	return <-failed
}

// Push stores img under ref, whose host part only names the registry: the
// connection goes through socket.
func Push(ctx context.Context, socket, ref string, img v1.Image) error {
	to, err := name.ParseReference(ref, name.Insecure)
	if err != nil {
		return fmt.Errorf("image name: %w", err)
	}
	t := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}
	defer t.CloseIdleConnections()
	return remote.Write(to, img, remote.WithContext(ctx), remote.WithTransport(t))
}
