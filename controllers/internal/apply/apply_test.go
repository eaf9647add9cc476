package apply_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/fairlead-dev/fairlead/controllers/internal/apply"
	"github.com/fairlead-dev/fairlead/controllers/internal/ownership"
)

const manager = "fairlead"

var owner = ownership.Owner{
	GVK:       schema.GroupVersionKind{Group: "mcp.fairlead.dev", Version: "v1alpha1", Kind: "McpServer"},
	Namespace: "team", Name: "demo", UID: "uid-1",
}

// store is a fake API server that counts writes and can hide objects from the
// cache, or hold the cache at an older state.
type store struct {
	client.Client
	writes int
	forced []bool
	cached map[client.ObjectKey]client.Object // what a stale cache shows
	hidden bool                               // the cache shows nothing
}

func newStore(t *testing.T, objects ...client.Object) *store {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	s := &store{cached: map[client.ObjectKey]client.Object{}}
	inner := fake.NewClientBuilder().WithScheme(scheme).WithReturnManagedFields().WithObjects(objects...)
	s.Client = interceptor.NewClient(inner.Build(), interceptor.Funcs{
		Apply: func(ctx context.Context, c client.WithWatch, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			s.writes++
			o := (&client.ApplyOptions{}).ApplyOptions(opts)
			s.forced = append(s.forced, ptr.Deref(o.Force, false))
			return c.Apply(ctx, obj, opts...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.DeleteOption) error {
			s.writes++
			return c.Delete(ctx, obj, opts...)
		},
	})
	return s
}

// cache is the store as an informer shows it.
type cache struct {
	client.Client
	s *store
}

func (c cache) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	if c.s.hidden {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, key.Name)
	}
	if old, ok := c.s.cached[key]; ok {
		old.(*corev1.ConfigMap).DeepCopyInto(obj.(*corev1.ConfigMap))
		return nil
	}
	return c.Client.Get(ctx, key, obj, opts...)
}

func (s *store) applier() *apply.Applier { return apply.New(cache{s.Client, s}, s.Client, manager) }

func configMap() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "demo-live"}}
}

func want(value string) *corev1ac.ConfigMapApplyConfiguration {
	return corev1ac.ConfigMap("demo-live", "team").
		WithLabels(map[string]string{"a": "b"}).
		WithOwnerReferences(owner.Reference()).
		WithData(map[string]string{"k": value})
}

func apply1(t *testing.T, a *apply.Applier, value string) apply.Result {
	t.Helper()
	child, err := a.Look(t.Context(), owner, configMap())
	if err != nil {
		t.Fatal(err)
	}
	res, err := a.Apply(t.Context(), owner, child, want(value))
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// O4, O19.
func TestApply(t *testing.T) {
	s := newStore(t)
	a := s.applier()
	if res := apply1(t, a, "1"); !res.Created || s.writes != 1 || s.forced[0] {
		t.Fatalf("first apply: %+v, %d writes, forced %v", res, s.writes, s.forced)
	}
	if res := apply1(t, a, "1"); res.Created || res.Updated || s.writes != 1 {
		t.Errorf("the same again: %+v, %d writes", res, s.writes)
	}
	if res := apply1(t, s.applier(), "1"); res.Updated || s.writes != 1 {
		t.Errorf("after a restart: %+v, %d writes", res, s.writes)
	}
	res := apply1(t, a, "2")
	if !res.Updated || res.Taken || !slices.Equal(res.Fields, []string{".data.k"}) || s.writes != 2 || !s.forced[1] {
		t.Errorf("a change: %+v, %d writes, forced %v", res, s.writes, s.forced)
	}
}

func TestDrift(t *testing.T) {
	s := newStore(t)
	a := s.applier()
	apply1(t, a, "1")
	live := configMap()
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(live), live); err != nil {
		t.Fatal(err)
	}
	live.Data["theirs"] = "x"
	if err := s.Update(t.Context(), live, client.FieldOwner("hand")); err != nil {
		t.Fatal(err)
	}
	if res := apply1(t, a, "1"); res.Updated || s.writes != 1 {
		t.Errorf("another manager's own field is not drift: %+v", res)
	}
	live.Data["k"] = "hand"
	if err := s.Update(t.Context(), live, client.FieldOwner("hand")); err != nil {
		t.Fatal(err)
	}
	if res := apply1(t, a, "1"); !res.Updated || !res.Taken {
		t.Errorf("our field in other hands: %+v", res)
	}
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(live), live); err != nil || live.Data["k"] != "1" || live.Data["theirs"] != "x" {
		t.Errorf("data %v, %v", live.Data, err)
	}
}

// The cache has not seen our last write: that is no drift.
func TestStaleCache(t *testing.T) {
	s := newStore(t)
	a := s.applier()
	apply1(t, a, "1")
	old := configMap()
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(old), old); err != nil {
		t.Fatal(err)
	}
	apply1(t, a, "2")
	s.cached[client.ObjectKeyFromObject(old)] = old
	if res := apply1(t, a, "2"); res.Updated || s.writes != 2 {
		t.Errorf("%+v, %d writes", res, s.writes)
	}
	s.cached = map[client.ObjectKey]client.Object{}
	s.hidden = true // nor our create
	if res := apply1(t, a, "2"); res.Created || res.Updated || s.writes != 2 {
		t.Errorf("%+v, %d writes", res, s.writes)
	}
}

// O4: whatever is not ours is neither written nor deleted.
func TestOnlyOursIsTouched(t *testing.T) {
	foreign := configMap()
	s := newStore(t, foreign)
	s.hidden = true // it has no label of ours, so no cache shows it
	a := s.applier()
	child, err := a.Look(t.Context(), owner, configMap())
	if err != nil || child.State != ownership.Foreign {
		t.Fatalf("%+v, %v", child, err)
	}
	if _, err := a.Apply(t.Context(), owner, child, want("1")); !errors.Is(err, apply.ErrNotOurs) {
		t.Errorf("apply: %v", err)
	}
	if _, err := a.Delete(t.Context(), child); !errors.Is(err, apply.ErrNotOurs) {
		t.Errorf("delete: %v", err)
	}
	if _, err := a.Owned(child); !errors.Is(err, apply.ErrNotOurs) {
		t.Errorf("owned: %v", err)
	}
	if s.writes != 0 {
		t.Errorf("%d writes", s.writes)
	}
}

func TestDelete(t *testing.T) {
	s := newStore(t)
	a := s.applier()
	apply1(t, a, "1")
	child, err := a.Look(t.Context(), owner, configMap())
	if err != nil {
		t.Fatal(err)
	}
	if deleted, err := a.Delete(t.Context(), child); err != nil || !deleted {
		t.Fatalf("%v, %v", deleted, err)
	}
	if deleted, err := a.Delete(t.Context(), child); err != nil || deleted {
		t.Errorf("gone already: %v, %v", deleted, err)
	}
	if deleted, err := a.Delete(t.Context(), apply.Child{State: ownership.Absent}); err != nil || deleted {
		t.Errorf("absent: %v, %v", deleted, err)
	}
}

func TestOwned(t *testing.T) {
	s := newStore(t)
	a := s.applier()
	apply1(t, a, "1")
	live := configMap()
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(live), live); err != nil {
		t.Fatal(err)
	}
	live.Data["theirs"] = "x"
	if err := s.Update(t.Context(), live, client.FieldOwner("hand")); err != nil {
		t.Fatal(err)
	}
	child, err := a.Look(t.Context(), owner, configMap())
	if err != nil {
		t.Fatal(err)
	}
	got, err := a.Owned(child)
	if err != nil {
		t.Fatal(err)
	}
	if data, _ := got["data"].(map[string]any); len(data) != 1 || data["k"] != "1" {
		t.Errorf("owned %v", got)
	}
}

// What cannot be applied is told apart from what failed.
func TestShapeError(t *testing.T) {
	s := newStore(t)
	a := s.applier()
	pod := corev1ac.Pod("p", "team").WithOwnerReferences(owner.Reference()).WithSpec(corev1ac.PodSpec().
		WithContainers(corev1ac.Container().WithName("c").WithEnv(corev1ac.EnvVar().WithName("A"), corev1ac.EnvVar().WithName("A"))))
	live := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "p"}}
	_, err := a.Apply(t.Context(), owner, apply.Child{State: ownership.Ours, Object: live}, pod)
	if shape, ok := errors.AsType[*apply.ShapeError](err); !ok {
		t.Errorf("got %v (%v)", err, shape)
	}
	if s.writes != 0 {
		t.Error("it was sent")
	}
}
