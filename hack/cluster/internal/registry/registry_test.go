package registry

import (
	"io"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

func serve(t *testing.T) (address, socket string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address, socket = ln.Addr().String(), filepath.Join(t.TempDir(), "registry.sock")
	ln.Close()
	// Serves until the test binary ends: there is nothing to clean up after it.
	go func() { _ = Serve(address, socket, filepath.Join(t.TempDir(), "blobs"), io.Discard) }()
	for deadline := time.Now().Add(10 * time.Second); ; {
		c, err := net.Dial("unix", socket)
		if err == nil {
			c.Close()
			return address, socket
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

func TestWhatIsPushedThroughTheSocketIsPulledByAddress(t *testing.T) {
	address, socket := serve(t)
	img, err := random.Image(1024, 2)
	if err != nil {
		t.Fatal(err)
	}
	// The host part of the name only names the registry.
	if err := Push(t.Context(), socket, "localhost:5000/team/tool:1", img); err != nil {
		t.Fatal(err)
	}
	ref, err := name.ParseReference(address+"/team/tool:1", name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	got, err := remote.Image(ref)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := img.Digest()
	if digest, _ := got.Digest(); digest != want {
		t.Errorf("digest %s, want %s", digest, want)
	}
}

func TestAnUnknownImageIsNotFoundAtOnce(t *testing.T) {
	address, _ := serve(t)
	client := http.Client{Timeout: 10 * time.Second}
	for _, path := range []string{"/v2/nobody/has-this/manifests/1", "/v2/library/busybox/manifests/latest?ns=docker.io"} {
		resp, err := client.Get("http://" + address + path)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s, want 404", path, resp.Status)
		}
	}
}

func TestAWrongNameIsAnError(t *testing.T) {
	_, socket := serve(t)
	img, _ := random.Image(8, 1)
	if err := Push(t.Context(), socket, "localhost:5000/UPPER:1", img); err == nil {
		t.Error("no error")
	}
}
