package admin

import (
	"encoding/json"
	"io"
	"net/http"

	"github.com/fairlead-dev/fairlead/sidecar/config"
)

// Source answers the questions. All are required, are called concurrently and
// must not block. An empty text means yes, else it says why not.
type Source struct {
	Live    func() string
	Ready   func() string
	Started func() string
	Status  func() config.Status
}

// Handler serves the admin port.
func Handler(s Source) http.Handler {
	answers := map[string]http.HandlerFunc{
		config.PathLivez:   yesOrNo(s.Live),
		config.PathReadyz:  yesOrNo(s.Ready),
		config.PathStartup: yesOrNo(s.Started),
		config.PathStatus:  status(s.Status),
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		answer, ok := answers[r.URL.Path]
		switch {
		case !ok:
			http.Error(w, "not found", http.StatusNotFound)
		case r.Method != http.MethodGet:
			h.Set("Allow", http.MethodGet)
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		default:
			answer(w, r)
		}
	})
}

func yesOrNo(ask func() string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		why := ask()
		if why == "" {
			_, _ = io.WriteString(w, "ok\n")
			return
		}
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, why+"\n")
	}
}

func status(ask func() config.Status) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		body, err := json.Marshal(ask())
		if err != nil { // a Status has nothing that cannot be encoded
			http.Error(w, "internal error", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(append(body, '\n'))
	}
}
