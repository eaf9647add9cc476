package record

import "net/http"

// session names the session of a request: by its header, or over HTTP+SSE by
// where it is POSTed.
func session(r *http.Request) string {
	if id := r.Header.Get(sessionHeader); id != "" || r.Method != http.MethodPost || r.URL.RawQuery == "" {
		return id
	}
	return r.URL.RequestURI()
}

// endpoint names the session of an event stream whose request is r, by where it
// says to POST.
func endpoint(r *http.Request, at []byte) string {
	u, err := r.URL.Parse(string(at))
	if err != nil {
		return ""
	}
	return u.RequestURI()
}
