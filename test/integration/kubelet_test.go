package integration

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/sidecar/config"
)

// stuckName is a pod that the played kubelet does not care for.
const stuckName = "stuck"

// kubelet plays Deployment controller, scheduler, kubelet and sidecars for one
// namespace: it makes the pods of each Deployment, replaces those of an older
// template once new ones are ready, and refreshes what a pod reports of its
// live contract when the pod is touched, as a real kubelet does.
type kubelet struct {
	t  testing.TB
	c  client.Client
	ns string

	mu    sync.Mutex
	byIP  map[string]config.Status
	touch map[types.UID]string // the annotation at the last refresh
	bad   map[string]bool      // images that cannot be pulled
	next  int
}

func playKubelet(t testing.TB, c client.Client, ns string) *kubelet {
	k := &kubelet{t: t, c: c, ns: ns, byIP: map[string]config.Status{}, touch: map[types.UID]string{}, bad: map[string]bool{}}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if err := k.round(ctx); err != nil && ctx.Err() == nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) && !apierrors.IsAlreadyExists(err) {
				t.Logf("played kubelet: %v", err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
	return k
}

// Get answers for /status.
func (k *kubelet) Get(_ context.Context, ip string) (config.Status, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	st, ok := k.byIP[ip]
	if !ok {
		return config.Status{}, errors.New("nobody answers")
	}
	return st, nil
}

// cannotPull makes an image that no registry has.
func (k *kubelet) cannotPull(image string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.bad[image] = true
}

func (k *kubelet) round(ctx context.Context) error {
	list := &appsv1.DeploymentList{}
	if err := k.c.List(ctx, list, client.InNamespace(k.ns)); err != nil {
		return err
	}
	for i := range list.Items {
		if err := k.deployment(ctx, &list.Items[i]); err != nil {
			return err
		}
	}
	return nil
}

func (k *kubelet) deployment(ctx context.Context, d *appsv1.Deployment) error {
	pods := &corev1.PodList{}
	if err := k.c.List(ctx, pods, client.InNamespace(k.ns), client.MatchingLabels(d.Spec.Selector.MatchLabels)); err != nil {
		return err
	}
	hash := hashOf(d)
	want, current, ready := int(*d.Spec.Replicas), 0, 0
	for i := range pods.Items {
		p := &pods.Items[i]
		if p.Labels[appsv1.DefaultDeploymentUniqueLabelKey] != hash || p.Name == stuckName {
			continue
		}
		if current == want {
			if err := k.c.Delete(ctx, p, client.GracePeriodSeconds(0)); err != nil {
				return err
			}
			continue
		}
		current++
		ok, err := k.pod(ctx, d, p)
		if err != nil {
			return err
		}
		if ok {
			ready++
		}
	}
	for ; current < want; current++ {
		if err := k.create(ctx, d, hash); err != nil {
			return err
		}
	}
	if ready == want {
		for i := range pods.Items {
			if pods.Items[i].Labels[appsv1.DefaultDeploymentUniqueLabelKey] != hash {
				if err := k.c.Delete(ctx, &pods.Items[i], client.GracePeriodSeconds(0)); err != nil {
					return err
				}
			}
		}
	}
	return k.deploymentStatus(ctx, d, int32(current), int32(ready))
}

func hashOf(d *appsv1.Deployment) string {
	return "h" + strings.TrimPrefix(d.Spec.Template.Labels[v1alpha1.LabelTemplate], "1-")
}

func (k *kubelet) deploymentStatus(ctx context.Context, d *appsv1.Deployment, replicas, ready int32) error {
	reason := "ReplicaSetUpdated"
	if ready == *d.Spec.Replicas {
		reason = "NewReplicaSetAvailable"
	}
	before := d.Status.DeepCopy()
	if before.ObservedGeneration == d.Generation && len(before.Conditions) == 1 && before.Conditions[0].Reason == "NewReplicaSetAvailable" {
		reason = "NewReplicaSetAvailable" // it stays so until the next template
	}
	if before.ObservedGeneration == d.Generation && before.Replicas == replicas && before.ReadyReplicas == ready &&
		len(before.Conditions) == 1 && before.Conditions[0].Reason == reason {
		return nil
	}
	d.Status = appsv1.DeploymentStatus{
		ObservedGeneration: d.Generation, Replicas: replicas, ReadyReplicas: ready,
		Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: reason}},
	}
	return k.c.Status().Update(ctx, d)
}

func (k *kubelet) create(ctx context.Context, d *appsv1.Deployment, hash string) error {
	k.mu.Lock()
	k.next++
	n := k.next
	k.mu.Unlock()
	p := &corev1.Pod{ObjectMeta: *d.Spec.Template.ObjectMeta.DeepCopy(), Spec: *d.Spec.Template.Spec.DeepCopy()}
	p.Namespace, p.Name, p.Spec.NodeName = k.ns, fmt.Sprintf("%s-%s-%d", d.Name, hash, n), "node"
	p.Labels[appsv1.DefaultDeploymentUniqueLabelKey] = hash
	p.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: "apps/v1", Kind: "ReplicaSet", Name: d.Name + "-" + hash, UID: types.UID("rs-" + hash), Controller: ptr.To(true),
	}}
	return k.c.Create(ctx, p)
}

// pod brings one pod a step further and reports whether it is ready.
func (k *kubelet) pod(ctx context.Context, d *appsv1.Deployment, p *corev1.Pod) (bool, error) {
	if p.DeletionTimestamp != nil {
		return false, nil
	}
	if err := k.refresh(ctx, p); err != nil {
		return false, err
	}
	if p.Status.PodIP != "" {
		return p.Status.Conditions[0].Status == corev1.ConditionTrue, nil
	}
	k.mu.Lock()
	bad := k.bad[p.Spec.Containers[0].Image]
	k.mu.Unlock()
	ip := fmt.Sprintf("10.2.%d.%d", k.number(p)/250, k.number(p)%250+1)
	status := corev1.PodStatus{Phase: corev1.PodRunning, PodIP: ip, PodIPs: []corev1.PodIP{{IP: ip}},
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
	if bad {
		status.Phase = corev1.PodPending
		status.Conditions[0].Status = corev1.ConditionFalse
		status.ContainerStatuses = []corev1.ContainerStatus{{Name: "workload", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull"}}}}
	}
	p.Status = status
	return !bad, k.c.Status().Update(ctx, p)
}

func (k *kubelet) number(p *corev1.Pod) int {
	var n int
	_, _ = fmt.Sscanf(p.Name[strings.LastIndex(p.Name, "-")+1:], "%d", &n)
	return n
}

// refresh reads the live contract for a pod that is new or was touched.
func (k *kubelet) refresh(ctx context.Context, p *corev1.Pod) error {
	mark := "seen:" + p.Annotations["mcp.fairlead.dev/live"]
	k.mu.Lock()
	known := k.touch[p.UID] == mark
	k.mu.Unlock()
	if known || p.Status.PodIP == "" {
		return nil
	}
	cm := &corev1.ConfigMap{}
	for _, v := range p.Spec.Volumes {
		if v.ConfigMap != nil && v.Name == "fairlead-live" {
			if err := k.c.Get(ctx, client.ObjectKey{Namespace: p.Namespace, Name: v.ConfigMap.Name}, cm); err != nil {
				return err
			}
		}
	}
	_, digest, err := config.DecodeLive(cm.BinaryData[config.LiveKey(config.LiveVersion)])
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.touch[p.UID] = mark
	k.byIP[p.Status.PodIP] = config.Status{
		PodUID: string(p.UID), LiveDigest: digest, Ready: true,
		Workload: config.WorkloadStatus{State: config.WorkloadUp, Name: "played", Revision: "2025-11-25"},
	}
	return nil
}
