package config

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func pack(t testing.TB, raw string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, raw); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func fullLive() Live {
	l := DefaultLive().As(1)
	l.Network.AllowedOrigins = []string{"https://app.example.com", "http://localhost:6274"}
	return l
}

func newestLive() Live {
	l := fullLive()
	l.Version = 2
	l.Protocol = Protocol{Revisions: []string{"2025-11-25", "2026-07-28"}, HTTPSSE: true}
	return l
}

func TestTheLiveContractIsEncodedAndDigestedForEver(t *testing.T) {
	for name, l := range map[string]Live{
		"v1-defaults": DefaultLive().As(1), "v1-full": fullLive(), "v2-defaults": DefaultLive(), "v2-full": newestLive(),
	} {
		gz, digest, err := EncodeLive(l)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := unpack(gz)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, "live-"+name+".json", raw)
		golden(t, "live-"+name+".digest", []byte(digest))
		again, _, err := EncodeLive(l)
		if err != nil || !bytes.Equal(gz, again) {
			t.Errorf("%s: two encodings differ, %v", name, err)
		}
		back, loaded, err := DecodeLive(gz)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(l, back); diff != "" {
			t.Errorf("%s does not survive the trip (-want +got):\n%s", name, diff)
		}
		if loaded != digest {
			t.Errorf("%s: digest %s when loaded, %s when encoded", name, loaded, digest)
		}
	}
}

func TestLiveKeyCarriesTheVersion(t *testing.T) {
	if got := LiveKey(1); got != "v1.json.gz" {
		t.Errorf("LiveKey(1) = %q", got)
	}
}

func TestLiveRefuses(t *testing.T) {
	good, err := encodeCanonical(fullLive())
	if err != nil {
		t.Fatal(err)
	}
	swap := func(old, new string) []byte {
		if !strings.Contains(string(good), old) {
			t.Fatalf("%q is not in %s", old, good)
		}
		return pack(t, strings.Replace(string(good), old, new, 1))
	}
	packed := pack(t, string(good))
	raw, err := encodeCanonical(newestLive())
	if err != nil {
		t.Fatal(err)
	}
	newest := string(raw)
	for name, tc := range map[string]struct {
		in   []byte
		want string
	}{
		"nothing":               {nil, "EOF"},
		"JSON that is not gzip": {good, "gzip"},
		"half a file":           {packed[:len(packed)/2], "EOF"},
		"a second gzip member":  {append(bytes.Clone(packed), packed...), "data after the gzip stream"},
		"a newer version":       {swap(`"version":1`, `"version":3`), "unsupported version: 3"},
		"a member twice":        {swap(`"version":1`, `"version":1,"version":1`), "duplicate member name"},
		"a member in capitals":  {swap(`"version":1`, `"version":1,"Limits":{}`), `unknown field "Limits"`},
		"a list for a section":  {swap(`{"allowedOrigins":["https://app.example.com","http://localhost:6274"]}`, `[]`), "network"},
		"a text for a number":   {swap(`"keepAliveSeconds":15`, `"keepAliveSeconds":"15"`), "keepAliveSeconds"},
		"no request time":       {swap(`"requestSeconds":300`, `"requestSeconds":0`), "limits.requestSeconds: 0 is outside"},
		"an origin with a path": {swap(`app.example.com`, `app.example.com/x`), "network.allowedOrigins[0]"},
		"an origin in capitals": {swap(`app.example.com`, `App.example.com`), "network.allowedOrigins[0]"},
		"every origin":          {swap(`https://app.example.com`, `*`), "network.allowedOrigins[0]"},
		"what version 1 lacks":  {swap(`}}`, `},"protocol":{"httpSSE":true}}`), "protocol: needs version 2"},
		"a revision's nickname": {pack(t, strings.Replace(newest, "2026-07-28", "newest", 1)), "protocol.revisions[1]"},
		"more than fits packed": {bytes.Repeat([]byte{0x1f}, MaxLiveBytes+1), "too large"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := DecodeLive(tc.in)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
		})
	}
}

// O1: an older sidecar gets what its version can say.
func TestAnOlderVersionSaysLess(t *testing.T) {
	if diff := cmp.Diff(fullLive(), newestLive().As(1)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(newestLive(), newestLive().As(2)); diff != "" {
		t.Error(diff)
	}
}

// O1: a member that this version does not know is refused by name.
func TestLiveNamesTheUnknownField(t *testing.T) {
	_, _, err := DecodeLive(pack(t, `{"version":1,"limits":{"requestSeconds":300,"maxBytes":1},"network":{}}`))
	var unknown *UnknownFieldError
	if !errors.As(err, &unknown) || unknown.Field != "limits.maxBytes" {
		t.Errorf("error %T %v, want an UnknownFieldError for limits.maxBytes", err, err)
	}
}

// O14: what unpacks beyond the bound is refused without being held.
func TestAGzipBombIsRefused(t *testing.T) {
	bomb := pack(t, strings.Repeat(" ", MaxLiveRawBytes+1))
	if len(bomb) > MaxLiveBytes {
		t.Fatalf("the bomb is %d bytes and would be refused packed", len(bomb))
	}
	_, _, err := DecodeLive(bomb)
	if !errors.Is(err, ErrTooLarge) {
		t.Errorf("error %v, want ErrTooLarge", err)
	}
}

func TestLiveNamesEveryProblemAtOnce(t *testing.T) {
	err := Live{Version: 1, Network: Network{AllowedOrigins: []string{"null", "https://ok.example"}}}.Validate()
	var invalid *InvalidError
	if !errors.As(err, &invalid) {
		t.Fatalf("error %T %v", err, err)
	}
	if len(invalid.Problems) != 5 {
		t.Errorf("%d problems, want the 4 limits and 1 origin: %v", len(invalid.Problems), err)
	}
}

func FuzzDecodeLive(f *testing.F) {
	for _, l := range []Live{DefaultLive(), fullLive()} {
		gz, _, err := EncodeLive(l)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(gz)
	}
	f.Add([]byte{0x1f, 0x8b})
	f.Fuzz(func(t *testing.T, gz []byte) {
		l, _, err := DecodeLive(gz)
		if err != nil {
			return
		}
		if _, _, err := EncodeLive(l); err != nil {
			t.Fatalf("accepted %+v but cannot write it: %v", l, err)
		}
	})
}
