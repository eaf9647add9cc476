package v1alpha1

import corev1 "k8s.io/api/core/v1"

// Volume is a volume of the pod. Its members are those of the core type that
// Pod Security restricted allows and that reach neither the node nor a
// ServiceAccount token; so there is no hostPath (and no csi, nfs, iscsi …:
// claim such storage through persistentVolumeClaim or ephemeral).
//
// +kubebuilder:validation:XValidation:rule="[has(self.emptyDir), has(self.configMap), has(self.secret), has(self.projected), has(self.persistentVolumeClaim), has(self.ephemeral), has(self.image)].exists_one(x, x)",message="a volume must set exactly one of emptyDir, configMap, secret, projected, persistentVolumeClaim, ephemeral and image; other types, such as hostPath, are not available"
// +kubebuilder:validation:XValidation:rule="!self.name.startsWith('fairlead-')",message="names of volumes that begin with fairlead- are reserved for the operator; rename the volume",fieldPath=".name"
type Volume struct {
	// name is how volumeMounts refer to the volume.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name,omitempty"`

	// emptyDir is an empty folder that lives as long as the pod.
	// +optional
	EmptyDir *corev1.EmptyDirVolumeSource `json:"emptyDir,omitempty"`

	// configMap holds the keys of a ConfigMap as files.
	// +optional
	ConfigMap *corev1.ConfigMapVolumeSource `json:"configMap,omitempty"`

	// secret holds the keys of a Secret as files.
	// +optional
	Secret *corev1.SecretVolumeSource `json:"secret,omitempty"`

	// projected puts several Secrets, ConfigMaps and facts about the pod into
	// one folder.
	// +optional
	Projected *ProjectedVolume `json:"projected,omitzero"`

	// persistentVolumeClaim is a claim in the same namespace; all pods of the
	// server use the same one.
	// +optional
	PersistentVolumeClaim *corev1.PersistentVolumeClaimVolumeSource `json:"persistentVolumeClaim,omitempty"`

	// ephemeral makes a claim for each pod, which lives as long as the pod.
	// +optional
	Ephemeral *corev1.EphemeralVolumeSource `json:"ephemeral,omitempty"`

	// image holds the files of an OCI image or artifact, read-only.
	// +optional
	Image *corev1.ImageVolumeSource `json:"image,omitempty"`
}

// ProjectedVolume is the core type without ServiceAccount tokens and
// certificates.
type ProjectedVolume struct {
	// sources are laid over each other in this order.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Sources []ProjectedSource `json:"sources,omitempty"`

	// defaultMode is the mode of the files. Default 0644.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=511
	DefaultMode *int32 `json:"defaultMode,omitempty"`
}

// ProjectedSource is one source of a ProjectedVolume.
//
// +kubebuilder:validation:XValidation:rule="[has(self.secret), has(self.configMap), has(self.downwardAPI)].exists_one(x, x)",message="a projected source must set exactly one of secret, configMap and downwardAPI; ServiceAccount tokens are not available"
type ProjectedSource struct {
	// secret holds keys of a Secret.
	// +optional
	Secret *corev1.SecretProjection `json:"secret,omitempty"`

	// configMap holds keys of a ConfigMap.
	// +optional
	ConfigMap *corev1.ConfigMapProjection `json:"configMap,omitempty"`

	// downwardAPI holds facts about the pod.
	// +optional
	DownwardAPI *corev1.DownwardAPIProjection `json:"downwardAPI,omitempty"`
}

// VolumeMount is the place of a volume in the workload's file system: the core
// type without mount propagation.
//
// +kubebuilder:validation:XValidation:rule="self.mountPath.startsWith('/') && self.mountPath != '/' && !self.mountPath.matches(':|//|/[.][.]?(/|$)')",message="mountPath must be a clean absolute path below /, without ':', empty, '.' or '..' segments",fieldPath=".mountPath"
// +kubebuilder:validation:XValidation:rule="self.mountPath != '/fairlead' && !self.mountPath.startsWith('/fairlead/')",message="/fairlead is reserved for the agent and the sidecar; mount the volume elsewhere",fieldPath=".mountPath"
// +kubebuilder:validation:XValidation:rule="!has(self.subPath) || !has(self.subPathExpr)",message="subPath and subPathExpr exclude each other; remove one"
type VolumeMount struct {
	// name is the volume's.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

	// mountPath is where the volume appears. /fairlead is reserved.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	MountPath string `json:"mountPath,omitempty"`

	// readOnly mounts the volume read-only.
	// +optional
	ReadOnly *bool `json:"readOnly,omitempty"`

	// subPath is the path inside the volume; its root when absent. Files of a
	// ConfigMap or Secret mounted so are never updated.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	SubPath string `json:"subPath,omitempty"`

	// subPathExpr is subPath with $(NAME) replaced by environment variables.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	SubPathExpr string `json:"subPathExpr,omitempty"`
}
