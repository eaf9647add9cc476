package auth_test

import (
	"context"
	"fmt"

	"github.com/fairlead-dev/fairlead/runtime/auth"
)

func ExampleNewStatic() {
	tokens, err := auth.NewStatic(auth.StaticToken{
		Token:    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", // of "test"
		Identity: auth.Identity{Principal: "ci", Scopes: []string{"tools"}},
	})
	if err != nil {
		panic(err)
	}
	id, err := tokens.Check(context.Background(), "test", nil)
	fmt.Println(id.Name(), id.Has("tools"), err)
	_, err = tokens.Check(context.Background(), "guess", nil)
	fmt.Println(err)
	// Output:
	// ci true <nil>
	// invalid_token: the token is not known here
}

func ExampleNeedScopes() {
	id := &auth.Identity{Principal: "alice", Scopes: []string{"files:read"}}
	refusal := auth.NeedScopes(id, "files:read", "files:write")
	fmt.Println(refusal.Code.Status(), refusal.Challenge(""))
	// Output: 403 Bearer error="insufficient_scope", error_description="the token lacks the scope files:write", scope="files:read files:write"
}

func ExampleParseChallenges() {
	challenges := auth.ParseChallenges([]string{`Basic realm="x", Bearer error="invalid_token", resource_metadata="https://h.example/meta"`})
	c, ok := auth.FindBearer(challenges)
	fmt.Println(ok, c.Code(), c.Params[auth.ParamResourceMetadata])
	// Output: true invalid_token https://h.example/meta
}
