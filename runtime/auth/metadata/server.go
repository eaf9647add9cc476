package metadata

import (
	"errors"
	"fmt"
	"net/url"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Server is what an authorization server says about itself (RFC 8414 section 2,
// OpenID Connect Discovery section 3).
type Server struct {
	// Issuer is exactly as the server writes it: it is compared, never changed.
	Issuer                string
	AuthorizationEndpoint string
	TokenEndpoint         string
	RegistrationEndpoint  string
	IntrospectionEndpoint string
	JWKSURI               string
	ScopesSupported       []string
	GrantTypes            []string
	// CodeChallengeMethods tell whether PKCE may be used; a client must not go
	// on without.
	CodeChallengeMethods []string
	TokenAuthMethods     []string
	// IssParameter: authorization responses carry iss (RFC 9207).
	IssParameter bool
	// ClientIDDocuments: client ids may be addresses of documents.
	ClientIDDocuments bool
	// Assumed is set when there was no document and the endpoints are those
	// that 2025-03-26 gives to a server without one (W38.17).
	Assumed bool
	// Raw is the document; nil when Assumed.
	Raw []byte
}

// ParseServer reads a document, which must be about the issuer: a document that
// names another is a trap (RFC 8414 section 3.3). No spelling is forgiven.
func ParseServer(raw []byte, issuer string) (*Server, error) {
	if err := strictjson.Scan(raw, strictjson.FromClient); err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	s := &Server{
		Issuer:                text(raw, "issuer"),
		AuthorizationEndpoint: text(raw, "authorization_endpoint"),
		TokenEndpoint:         text(raw, "token_endpoint"),
		RegistrationEndpoint:  text(raw, "registration_endpoint"),
		IntrospectionEndpoint: text(raw, "introspection_endpoint"),
		JWKSURI:               text(raw, "jwks_uri"),
		ScopesSupported:       texts(raw, "scopes_supported"),
		GrantTypes:            texts(raw, "grant_types_supported"),
		CodeChallengeMethods:  texts(raw, "code_challenge_methods_supported"),
		TokenAuthMethods:      texts(raw, "token_endpoint_auth_methods_supported"),
		IssParameter:          truth(raw, "authorization_response_iss_parameter_supported"),
		ClientIDDocuments:     truth(raw, "client_id_metadata_document_supported"),
		Raw:                   raw,
	}
	if s.Issuer != issuer {
		return nil, errors.New("metadata: the document is that of another issuer")
	}
	return s, nil
}

// assumed is the authorization server of a resource that says nothing at all:
// the resource's own origin, with the paths of 2025-03-26.
func assumed(resource *url.URL) *Server {
	origin := Origin(resource)
	return &Server{
		Issuer:                origin,
		AuthorizationEndpoint: origin + "/authorize",
		TokenEndpoint:         origin + "/token",
		RegistrationEndpoint:  origin + "/register",
		CodeChallengeMethods:  []string{"S256"}, // 2025-03-26 demands it of everybody
		Assumed:               true,
	}
}
