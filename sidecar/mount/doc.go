// Package mount reads and watches directories that the kubelet fills from a
// ConfigMap or a Secret.
//
// It owns the way those change (a `..data` symlink that is swapped) and the
// bounds of what is read. It must not know what the files mean.
package mount
