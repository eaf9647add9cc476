package v1alpha1

import corev1 "k8s.io/api/core/v1"

// Core returns the volume as the pod has it. It shares nothing with v.
func (v *Volume) Core() corev1.Volume {
	v = v.DeepCopy()
	out := corev1.Volume{Name: v.Name, VolumeSource: corev1.VolumeSource{
		EmptyDir:              v.EmptyDir,
		ConfigMap:             v.ConfigMap,
		Secret:                v.Secret,
		PersistentVolumeClaim: v.PersistentVolumeClaim,
		Ephemeral:             v.Ephemeral,
		Image:                 v.Image,
	}}
	if v.Projected != nil {
		p := &corev1.ProjectedVolumeSource{DefaultMode: v.Projected.DefaultMode}
		for _, s := range v.Projected.Sources {
			p.Sources = append(p.Sources, corev1.VolumeProjection{
				Secret: s.Secret, ConfigMap: s.ConfigMap, DownwardAPI: s.DownwardAPI,
			})
		}
		out.Projected = p
	}
	return out
}

// Core returns the mount as the container has it.
func (m *VolumeMount) Core() corev1.VolumeMount {
	return corev1.VolumeMount{
		Name:        m.Name,
		MountPath:   m.MountPath,
		ReadOnly:    m.ReadOnly != nil && *m.ReadOnly,
		SubPath:     m.SubPath,
		SubPathExpr: m.SubPathExpr,
	}
}
