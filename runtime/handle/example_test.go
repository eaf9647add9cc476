package handle_test

import (
	"context"
	"fmt"

	"github.com/fairlead-dev/fairlead/runtime/handle"
)

// One call opens a basket and answers with its handle; later calls, on whatever
// connection, put things into it.
func Example() {
	type basket struct{ Apples int }
	baskets, err := handle.New(handle.Options[basket]{Kind: "basket"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer baskets.Close()
	ctx := context.Background()
	ann, ben := handle.Owner{Principal: "ann"}, handle.Owner{Principal: "ben"}

	h, _ := baskets.Put(ctx, ann, basket{})
	after, _ := baskets.Update(ctx, ann, h, func(b basket) (basket, error) { b.Apples += 3; return b, nil })
	fmt.Println(after.Apples)

	_, err = baskets.Get(ctx, ben, h)
	fmt.Println(err)
	// Output:
	// 3
	// unknown handle
}
