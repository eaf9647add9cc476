package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"
)

// forward tunnels to the pod through API server and kubelet, which no
// NetworkPolicy stands in the way of.
func (k *kube) forward(ctx context.Context, pod corev1.Pod, port int) (string, func(), error) {
	dialer, err := k.dialer(pod)
	if err != nil {
		return "", nil, err
	}
	// The forwarder logs what we return as errors, and noise at its end.
	ctx, cancel := context.WithCancel(logr.NewContext(ctx, logr.Discard()))
	ready := make(chan struct{})
	fw, err := portforward.NewOnAddressesForStreamingWithContext(ctx, dialer, []string{"127.0.0.1"}, []string{":" + strconv.Itoa(port)}, ready, io.Discard, io.Discard)
	if err != nil {
		cancel()
		return "", nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- fw.ForwardPorts() }()
	stop := func() {
		cancel()
		fw.Close()
	}
	select {
	case <-ready:
	case err := <-ended:
		stop()
		return "", nil, fmt.Errorf("port %d of pod %s: %w", port, pod.Name, cmp.Or(err, errTunnelEnded))
	case <-ctx.Done():
		stop()
		return "", nil, fmt.Errorf("port %d of pod %s: %w", port, pod.Name, context.Cause(ctx))
	}
	ports, err := fw.GetPorts()
	if err != nil {
		stop()
		return "", nil, err
	}
	return "http://127.0.0.1:" + strconv.Itoa(int(ports[0].Local)), stop, nil
}

var errTunnelEnded = errors.New("the tunnel ended at once")

// dialer prefers WebSockets and falls back to SPDY, as kubectl does.
func (k *kube) dialer(pod corev1.Pod) (httpstream.Dialer, error) {
	cfg := rest.CopyConfig(k.rest)
	cfg.GroupVersion = &schema.GroupVersion{Version: "v1"}
	cfg.APIPath = "/api"
	cfg.NegotiatedSerializer = clientgoscheme.Codecs.WithoutConversion()
	client, err := rest.RESTClientFor(cfg)
	if err != nil {
		return nil, err
	}
	url := client.Post().Resource("pods").Namespace(pod.Namespace).Name(pod.Name).SubResource("portforward").URL()
	transport, upgrader, err := spdy.RoundTripperFor(cfg)
	if err != nil {
		return nil, err
	}
	old := spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: transport}, http.MethodPost, url)
	tunnel, err := portforward.NewSPDYOverWebsocketDialerForStreaming(url, cfg)
	if err != nil {
		return nil, err
	}
	return portforward.NewFallbackDialerForStreaming(tunnel, old, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	}), nil
}
