package auth

import (
	"context"
	"errors"
	"net/http"
)

// First makes one Checker of several, such as static tokens beside an issuer's:
// the first that takes the token names the caller. A token that nobody takes is
// refused; when one of them could not find out, that is the error, because it
// might have taken it. There is no way in but a checker that said yes.
func First(checkers ...Checker) Checker {
	return CheckerFunc(func(ctx context.Context, token string, r *http.Request) (*Identity, error) {
		var unknown error
		refusal := Refuse(InvalidToken, "the token is not valid here")
		for _, c := range checkers {
			id, err := c.Check(ctx, token, r)
			if err == nil && id != nil {
				return id, nil
			}
			switch known := AsRefusal(err); {
			case known == nil:
				unknown = errors.Join(unknown, err)
			case known.Code != InvalidToken || refusal.Cause == nil:
				refusal = &Refusal{Code: known.Code, Reason: known.Reason, Scopes: known.Scopes, Cause: known}
			}
		}
		if unknown != nil {
			return nil, unknown
		}
		return nil, refusal
	})
}
