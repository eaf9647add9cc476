package load

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
)

// errConnDead says that the peer closed an idle connection before a request
// was written to it. Nothing was sent, so another connection may be used.
var errConnDead = errors.New("connection was closed while idle")

// conn is one kept-alive HTTP/1.1 connection, one request at a time. Its reader
// notices a close while idle, as every real client's event loop does.
type conn struct {
	nc   net.Conn
	dead chan struct{} // closed when the connection can take no more requests
	once sync.Once

	mu      sync.Mutex
	pending *exchange
}

type exchange struct {
	req  *http.Request
	resp chan *http.Response
	err  chan error
	done chan struct{} // the caller has read the body
}

func dial(ctx context.Context, addr string) (*conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	nc, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	c := &conn{nc: nc, dead: make(chan struct{})}
	go c.read()
	return c, nil
}

func (c *conn) close() {
	c.once.Do(func() {
		close(c.dead)
		c.nc.Close()
	})
}

func (c *conn) isDead() bool {
	select {
	case <-c.dead:
		return true
	default:
		return false
	}
}

func (c *conn) read() {
	defer c.close()
	br := bufio.NewReader(c.nc)
	for {
		_, err := br.Peek(1)
		c.mu.Lock()
		x := c.pending
		c.mu.Unlock()
		if x == nil {
			return // closed, or spoke unasked: useless either way
		}
		if err != nil {
			x.err <- err
			return
		}
		resp, err := http.ReadResponse(br, x.req)
		if err != nil {
			x.err <- err
			return
		}
		x.resp <- resp
		select {
		case <-x.done:
		case <-c.dead:
			return
		}
	}
}

// finish makes the connection idle again, or closes it when the response said
// so: before the caller can put it back into a pool.
func (c *conn) finish(x *exchange, resp *http.Response) {
	if resp.Close {
		c.close()
		return
	}
	c.mu.Lock()
	c.pending = nil
	c.mu.Unlock()
	close(x.done)
}

// do writes req and returns the response's head. The caller must read the body
// and then call finish, or close the connection. errConnDead means that
// nothing was written.
func (c *conn) do(ctx context.Context, req *http.Request) (resp *http.Response, finish func(), err error) {
	x := &exchange{req: req, resp: make(chan *http.Response, 1), err: make(chan error, 1), done: make(chan struct{})}
	c.mu.Lock()
	if c.isDead() {
		c.mu.Unlock()
		return nil, nil, errConnDead
	}
	c.pending = x
	c.mu.Unlock()
	stop := context.AfterFunc(ctx, c.close)
	if err := req.Write(c.nc); err != nil {
		stop()
		c.close()
		return nil, nil, err
	}
	select {
	case resp = <-x.resp:
		return resp, func() { stop(); c.finish(x, resp) }, nil
	case err = <-x.err:
	case <-c.dead:
		err = net.ErrClosed
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		select {
		case err = <-x.err: // the reader's own word is better
		default:
		}
	}
	stop()
	c.close()
	return nil, nil, err
}
