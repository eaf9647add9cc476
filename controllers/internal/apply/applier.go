package apply

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairlead-dev/fairlead/controllers/internal/ownership"
)

// Applier reads and writes children for one field owner.
type Applier struct {
	cached  client.Client // reads from the cache, writes to the API server
	live    client.Reader // reads from the API server
	compare comparer
	manager string
	seen    *written
}

// New returns an Applier. cached must keep managedFields of children; live
// must not be a cache.
func New(cached client.Client, live client.Reader, manager string) *Applier {
	return &Applier{
		cached: cached, live: live, manager: manager,
		compare: newComparer(cached.Scheme(), manager),
		seen:    newWritten(),
	}
}

// Child is one child as it was read.
type Child struct {
	// Object is nil when State is Absent.
	Object client.Object
	State  ownership.State
}

// Look reads the child named by into, a pointer to a typed object that carries
// name and namespace and is not filled, and says whose it is. What the cache shows as ours is believed, unless it is
// older than our own last write; everything else is looked up uncached,
// because the cache holds only objects with our label and a foreign object has
// none (O4). Absent is not an error.
func (a *Applier) Look(ctx context.Context, o ownership.Owner, into client.Object) (Child, error) {
	gvk, err := a.cached.GroupVersionKindFor(into)
	if err != nil {
		return Child{}, err
	}
	key := client.ObjectKeyFromObject(into)
	obj := zero(into)
	err = a.cached.Get(ctx, key, obj)
	if err == nil && a.seen.current(o, gvk.Kind, obj) {
		if s := o.StateOf(obj); s == ownership.Ours {
			return Child{Object: obj, State: s}, nil
		}
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return Child{}, fmt.Errorf("reading %T from the cache: %w", into, err)
	}
	return a.LookLive(ctx, o, into)
}

// LookLive is Look without the cache, for kinds that are never cached.
func (a *Applier) LookLive(ctx context.Context, o ownership.Owner, into client.Object) (Child, error) {
	obj := zero(into)
	switch err := a.live.Get(ctx, client.ObjectKeyFromObject(into), obj); {
	case apierrors.IsNotFound(err):
		return Child{State: ownership.Absent}, nil
	case err != nil:
		return Child{}, fmt.Errorf("reading %T: %w", into, err)
	}
	return Child{Object: obj, State: o.StateOf(obj)}, nil
}

// zero is a new, empty object of the same type: decoding into a used one
// would mix the maps of both.
func zero(like client.Object) client.Object {
	return reflect.New(reflect.TypeOf(like).Elem()).Interface().(client.Object)
}

// ErrNotOurs is returned for an attempt to write or delete a child whose state
// does not allow it: a mistake of the caller.
var ErrNotOurs = errors.New("child is neither absent nor ours")

// Result says what Apply did.
type Result struct {
	// Created or Updated is true when something was sent and changed.
	Created, Updated bool
	// Fields that differed, sorted, for the log.
	Fields []string
	// Taken is true when another manager had taken one of them: drift.
	Taken bool
}

// Apply makes the child as desired says and sends nothing when it is so
// already. The first apply of an Absent child does not force; an apply of Ours
// forces and names the UID that was looked at, so an object that took its
// place meanwhile is not touched (409).
func (a *Applier) Apply(ctx context.Context, o ownership.Owner, child Child, desired runtime.ApplyConfiguration) (Result, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(desired)
	if err != nil {
		return Result{}, &ShapeError{Err: err}
	}
	u := &unstructured.Unstructured{Object: content}
	opts := []client.ApplyOption{client.FieldOwner(a.manager)}
	var diff difference
	switch child.State {
	case ownership.Absent:
	case ownership.Ours:
		if diff, err = a.compare.difference(child.Object, u); err != nil {
			return Result{}, err
		}
		if len(diff.fields) == 0 {
			return Result{}, nil
		}
		u.SetUID(child.Object.GetUID())
		opts = append(opts, client.ForceOwnership)
	default:
		return Result{}, fmt.Errorf("applying %s: %w", u.GetKind(), ErrNotOurs)
	}
	if err := a.cached.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), opts...); err != nil {
		return Result{}, fmt.Errorf("applying %s: %w", u.GetKind(), err)
	}
	a.seen.wrote(o, u)
	if child.State == ownership.Absent {
		return Result{Created: true}, nil
	}
	// The server may find that nothing changes, for instance when only the
	// order of an associative list differs.
	changed := u.GetResourceVersion() != child.Object.GetResourceVersion()
	return Result{Updated: changed, Fields: diff.fields, Taken: changed && len(diff.taken) > 0}, nil
}

// Delete removes a child of ours and nothing else; Absent is success. The UID
// that was looked at is a precondition.
func (a *Applier) Delete(ctx context.Context, child Child) (deleted bool, err error) {
	switch child.State {
	case ownership.Absent, ownership.Deleting:
		return false, nil
	case ownership.Ours:
	default:
		return false, fmt.Errorf("deleting %T: %w", child.Object, ErrNotOurs)
	}
	uid := child.Object.GetUID()
	err = a.cached.Delete(ctx, child.Object, client.Preconditions{UID: &uid})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("deleting %T: %w", child.Object, err)
	}
	return true, nil
}

// TakenBelow reports whether another manager has taken a field below the path,
// such as ".spec.template.", that desired sets: then Owned lacks it.
func (a *Applier) TakenBelow(child Child, desired runtime.ApplyConfiguration, path string) (bool, error) {
	if child.State != ownership.Ours {
		return false, ErrNotOurs
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(desired)
	if err != nil {
		return false, &ShapeError{Err: err}
	}
	diff, err := a.compare.difference(child.Object, &unstructured.Unstructured{Object: content})
	return slices.ContainsFunc(diff.taken, func(f string) bool { return strings.HasPrefix(f, path) }), err
}

// Owned returns the part of a child that we applied, as it is now.
func (a *Applier) Owned(child Child) (map[string]any, error) {
	if child.State != ownership.Ours {
		return nil, ErrNotOurs
	}
	owned, err := a.compare.owned(child.Object)
	if err != nil {
		return nil, err
	}
	content, ok := owned.AsValue().Unstructured().(map[string]any)
	if !ok {
		return nil, fmt.Errorf("owned part of %T is no object", child.Object)
	}
	return content, nil
}

// Forget drops what is remembered about the children of an owner that is gone.
func (a *Applier) Forget(namespace, name string) { a.seen.forget(namespace, name) }
