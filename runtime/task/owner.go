package task

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strconv"

	"github.com/fairlead-dev/fairlead/runtime/seal"
)

// Owner is who asks.
type Owner struct {
	// Principal is whose tasks these are; empty is anonymous. A task of an
	// anonymous caller belongs to whoever knows its id (W35.21), so it cannot
	// be listed.
	Principal string
	// Bucket is what an anonymous caller's tasks are counted under, such as
	// the peer's address (P22). It means nothing with a Principal.
	Bucket string
}

// principal is the digest that a record keeps: stores need not know who people
// are.
func (o Owner) principal() string { return digest("principal", o.Principal) }

// account is what a record's bounds and lists go by.
func (o Owner) account() string {
	if o.Principal == "" {
		return digest("bucket", o.Bucket)
	}
	return o.principal()
}

func digest(kind, text string) string {
	sum := sha256.Sum256([]byte(kind + "\x00" + strconv.Itoa(len(text)) + "\x00" + text))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

func recordKey(r seal.Random) string { return hex.EncodeToString(r[:]) }
