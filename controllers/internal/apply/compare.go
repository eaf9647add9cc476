package apply

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"k8s.io/apimachinery/pkg/runtime"
)

// ShapeError is a desired object that cannot be applied at all: the API server
// would refuse it whatever exists. Its text names field paths of the child.
type ShapeError struct{ Err error }

func (e *ShapeError) Error() string { return "desired object: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *ShapeError) Unwrap() error { return e.Err }

// comparer knows the merge structure (which lists are maps, which are atomic)
// of the built-in kinds.
type comparer struct {
	converter managedfields.TypeConverter
	scheme    *runtime.Scheme
	manager   string
}

func newComparer(scheme *runtime.Scheme, manager string) comparer {
	return comparer{converter: applyconfigurations.NewTypeConverter(scheme), scheme: scheme, manager: manager}
}

// difference is what applying would change.
type difference struct {
	// fields are the paths, sorted; empty means nothing.
	fields []string
	// taken are those of them that another manager owns now.
	taken []string
}

// difference compares what we want to own with what we own in live, value by
// value. Fields of others do not count; a field that another manager took from
// us counts, so drift is seen.
func (c comparer) difference(live client.Object, desired *unstructured.Unstructured) (difference, error) {
	want, err := c.converter.ObjectToTyped(withoutIdentity(desired))
	if err != nil {
		return difference{}, &ShapeError{Err: err}
	}
	// The type is no managed field either, but it was needed to get here.
	want = want.RemoveItems(fieldpath.NewSet(fieldpath.MakePathOrDie("apiVersion"), fieldpath.MakePathOrDie("kind")))
	have, err := c.owned(live)
	if err != nil {
		return difference{}, err
	}
	diff, err := have.Compare(want)
	if err != nil {
		return difference{}, &ShapeError{Err: err}
	}
	var out difference
	others := c.others(live)
	for _, set := range []*fieldpath.Set{diff.Added, diff.Modified, diff.Removed} {
		set.Iterate(func(p fieldpath.Path) {
			out.fields = append(out.fields, p.String())
			if slices.ContainsFunc(others, func(o *fieldpath.Set) bool { return o.Has(p) }) {
				out.taken = append(out.taken, p.String())
			}
		})
	}
	slices.Sort(out.fields)
	out.fields = slices.Compact(out.fields)
	return out, nil
}

// others are the fields of every other manager. What cannot be read is left
// out: it only matters for what is told.
func (c comparer) others(live client.Object) []*fieldpath.Set {
	var out []*fieldpath.Set
	for _, entry := range live.GetManagedFields() {
		if c.isOurs(entry) || entry.FieldsV1 == nil {
			continue
		}
		set := fieldpath.NewSet()
		if err := set.FromJSON(entry.FieldsV1.GetRawReader()); err == nil {
			out = append(out, set)
		}
	}
	return out
}

func (c comparer) isOurs(e metav1.ManagedFieldsEntry) bool {
	return e.Manager == c.manager && e.Operation == metav1.ManagedFieldsOperationApply && e.Subresource == ""
}

// owned extracts from live the fields that our manager applied.
func (c comparer) owned(live client.Object) (*typed.TypedValue, error) {
	gvks, _, err := c.scheme.ObjectKinds(live)
	if err != nil {
		return nil, err
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(live)
	if err != nil {
		return nil, fmt.Errorf("live %s: %w", gvks[0].Kind, err)
	}
	// Some types write an absent member as null, which nobody ever applied.
	dropNulls(content)
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(gvks[0]) // the cache strips it, the converter needs it
	full, err := c.converter.ObjectToTyped(u)
	if err != nil {
		return nil, fmt.Errorf("live %s: %w", gvks[0].Kind, err)
	}
	fields := fieldpath.NewSet()
	for _, entry := range live.GetManagedFields() {
		if !c.isOurs(entry) || entry.FieldsV1 == nil {
			continue
		}
		if err := fields.FromJSON(entry.FieldsV1.GetRawReader()); err != nil {
			return nil, fmt.Errorf("managed fields of live %s: %w", gvks[0].Kind, err)
		}
		break
	}
	return full.ExtractItems(fields.Leaves()), nil
}

// dropNulls removes null members at every depth.
func dropNulls(v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, member := range v {
			if member == nil {
				delete(v, k)
				continue
			}
			dropNulls(member)
		}
	case []any:
		for _, item := range v {
			dropNulls(item)
		}
	}
}

// withoutIdentity drops what the API server never records as a managed field.
func withoutIdentity(desired *unstructured.Unstructured) *unstructured.Unstructured {
	u := desired.DeepCopy()
	unstructured.RemoveNestedField(u.Object, "metadata", "name")
	unstructured.RemoveNestedField(u.Object, "metadata", "namespace")
	unstructured.RemoveNestedField(u.Object, "metadata", "uid")
	return u
}
