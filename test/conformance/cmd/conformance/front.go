package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"

	"github.com/fairlead-dev/fairlead/test/conformance/record"
)

// front is a reverse proxy that writes down all messages and changes none.
type front struct {
	url    string
	server *http.Server
	log    *record.Log
	ended  chan error
}

// startFront puts one in front of a URL, on a free port of loopback.
func startFront(to, file string) (*front, error) {
	target, err := url.Parse(to)
	if err != nil {
		return nil, err
	}
	log, err := record.Create(file)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", anyPort)
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = target.Scheme, target.Host
			r.Out.Host = r.In.Host // the suite sends wrong ones on purpose
		},
		Transport:     &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true},
		FlushInterval: -1,
	}
	f := &front{
		url:    "http://" + listener.Addr().String() + target.Path,
		server: &http.Server{Handler: record.Handler(duplex(proxy), log), ReadHeaderTimeout: 10 * time.Second},
		log:    log,
		ended:  make(chan error, 1),
	}
	go func() { f.ended <- f.server.Serve(listener) }()
	return f, nil
}

// duplex lets a handler write while its request's body is not at its end: else
// the server closes the body with the first write, the proxy cannot read the end
// of it any more, and gives the answer up that it is copying.
func duplex(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex() // HTTP/1.1 can
		next.ServeHTTP(w, r)
	})
}

// stop ends it after what it stands in front of. A nil front has ended.
func (f *front) stop() error {
	if f == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), endDelay)
	defer cancel()
	err := f.server.Shutdown(ctx)
	if ended := <-f.ended; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return errors.Join(err, f.log.Close())
}
