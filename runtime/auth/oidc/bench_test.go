package oidc_test

import (
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/fairlead-dev/fairlead/runtime/auth/metadata"
	"github.com/fairlead-dev/fairlead/runtime/auth/oidc"
)

func BenchmarkCheck(b *testing.B) {
	for _, k := range []key{{rsaKey(), "r", jose.RS256}, ecKey(b, "e"), edKey(b, "d")} {
		for name, remember := range map[string]int{"verified": -1, "remembered": 1} {
			b.Run(string(k.alg)+"/"+name, func(b *testing.B) {
				i := &issuer{url: "https://as.example", keys: []jose.JSONWebKey{k.public()}}
				c, err := oidc.New(oidc.Config{Issuer: i.url, Audience: []string{resource}, JWKSURL: i.url + "/keys", Remember: remember, Fetcher: &metadata.Fetcher{Transport: i}})
				if err != nil {
					b.Fatal(err)
				}
				token := sign(b, k, i.claims(nil), nil)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := c.Check(b.Context(), token, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
