package desired

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// A fieldRef is atomic, and the API server fills in its apiVersion: what we own
// of it then includes the default. Without it here, every comparison with the
// live object would find a difference and every reconcile would write (O19).

func defaultedEnv(user []corev1.EnvVar) []corev1.EnvVar {
	out := slices.Clone(user)
	for i := range out {
		if from := out[i].ValueFrom; from != nil && from.FieldRef != nil {
			from = from.DeepCopy()
			defaultFieldRef(from.FieldRef)
			out[i].ValueFrom = from
		}
	}
	return out
}

// pullPolicy spells out what the API server would fill in. It does that once,
// while the field is absent: an image that is changed later from :1 to :latest
// would keep the policy of :1, and pods run whatever their node has.
func pullPolicy(user corev1.PullPolicy, image string) corev1.PullPolicy {
	if user != "" {
		return user
	}
	name, _, digest := strings.Cut(image, "@")
	tag := ""
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
		tag = name[i+1:]
	}
	if tag == "latest" || tag == "" && !digest {
		return corev1.PullAlways
	}
	return corev1.PullIfNotPresent
}

// defaultVolume does the same inside a volume, which it changes.
func defaultVolume(v *corev1.Volume) {
	if v.Image != nil {
		v.Image.PullPolicy = pullPolicy(v.Image.PullPolicy, v.Image.Reference)
	}
	if v.Projected == nil {
		return
	}
	for i := range v.Projected.Sources {
		if d := v.Projected.Sources[i].DownwardAPI; d != nil {
			for k := range d.Items {
				defaultFieldRef(d.Items[k].FieldRef)
			}
		}
	}
}

func defaultFieldRef(f *corev1.ObjectFieldSelector) {
	if f != nil && f.APIVersion == "" {
		f.APIVersion = "v1"
	}
}
