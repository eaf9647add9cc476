package v1alpha1

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// Our volumes and mounts are spelled as the core types are, so that what a user
// copies from a pod means the same. Every member that is set must arrive.
func TestVolumesReachThePodAsWritten(t *testing.T) {
	for _, text := range []string{
		`{"name":"a","emptyDir":{"medium":"Memory","sizeLimit":"32Mi"}}`,
		`{"name":"a","configMap":{"name":"c","items":[{"key":"k","path":"p","mode":288}],"defaultMode":420,"optional":true}}`,
		`{"name":"a","secret":{"secretName":"s","items":[{"key":"k","path":"p"}],"defaultMode":256,"optional":false}}`,
		`{"name":"a","projected":{"sources":[{"secret":{"name":"s"}},{"configMap":{"name":"c"}},{"downwardAPI":{"items":[{"path":"labels","fieldRef":{"fieldPath":"metadata.labels"}}]}}],"defaultMode":292}}`,
		`{"name":"a","persistentVolumeClaim":{"claimName":"p","readOnly":true}}`,
		`{"name":"a","ephemeral":{"volumeClaimTemplate":{"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}}}`,
		`{"name":"a","image":{"reference":"registry.example/m:1","pullPolicy":"Always"}}`,
	} {
		var ours Volume
		var core corev1.Volume
		decode(t, text, &ours)
		decode(t, text, &core)
		if diff := cmp.Diff(core, ours.Core()); diff != "" {
			t.Errorf("%s (-core +ours):\n%s", text, diff)
		}
	}
}

func TestEveryMemberOfAVolumeIsCarriedOver(t *testing.T) {
	v := reflect.ValueOf(Volume{})
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if field.Type.Kind() != reflect.Pointer {
			continue
		}
		one := Volume{Name: "x"}
		reflect.ValueOf(&one).Elem().Field(i).Set(reflect.New(field.Type.Elem()))
		core := one.Core()
		got := reflect.ValueOf(core.VolumeSource).FieldByName(field.Name)
		if !got.IsValid() || got.IsNil() {
			t.Errorf("Volume.%s is not in the core volume", field.Name)
		}
	}
}

func TestCoreVolumeSharesNothing(t *testing.T) {
	ours := Volume{Name: "a", ConfigMap: &corev1.ConfigMapVolumeSource{Optional: ptr.To(false)}}
	core := ours.Core()
	*core.ConfigMap.Optional = true
	if *ours.ConfigMap.Optional {
		t.Error("a change of the core volume changed ours")
	}
}

func TestMountsReachTheContainerAsWritten(t *testing.T) {
	for _, text := range []string{
		`{"name":"a","mountPath":"/a"}`,
		`{"name":"a","mountPath":"/a","readOnly":true,"subPath":"b"}`,
		`{"name":"a","mountPath":"/a","readOnly":false,"subPathExpr":"$(X)"}`,
	} {
		var ours VolumeMount
		var core corev1.VolumeMount
		decode(t, text, &ours)
		decode(t, text, &core)
		if diff := cmp.Diff(core, ours.Core()); diff != "" {
			t.Errorf("%s (-core +ours):\n%s", text, diff)
		}
	}
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatal(err)
	}
}
