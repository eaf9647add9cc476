package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/sidecar/config"
)

const (
	statusTimeout = 10 * time.Second // of one pod
	maxStatus     = 1 << 20          // bytes
)

// finding is all that check found out about one McpServer. Its JSON is the
// command's -o json output.
type finding struct {
	Server string       `json:"server"`
	Ready  bool         `json:"ready"`
	Result []condition  `json:"conditions"`
	Pods   []podFinding `json:"pods"`
	Advice []advice     `json:"advice,omitempty"`
}

type condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

type podFinding struct {
	Name     string `json:"name"`
	Phase    string `json:"phase"`
	Ready    bool   `json:"ready"`
	Current  bool   `json:"current"` // made from the current template
	Leaving  bool   `json:"leaving,omitempty"`
	Restarts int32  `json:"restarts"`
	// Waiting is what the kubelet says of containers that do not run.
	Waiting []string `json:"waiting,omitempty"`
	// Status is the sidecar's own report; StatusError why there is none.
	Status      *config.Status `json:"status,omitempty"`
	StatusError string         `json:"statusError,omitempty"`
}

// inspect gathers everything about a McpServer that a person can use.
func inspect(ctx context.Context, c cluster, server *v1alpha1.McpServer) (*finding, error) {
	f := &finding{Server: server.Namespace + "/" + server.Name}
	for _, cond := range server.Status.Conditions {
		f.Result = append(f.Result, condition{cond.Type, string(cond.Status), cond.Reason, cond.Message})
	}
	f.Ready = meta.IsStatusConditionTrue(server.Status.Conditions, v1alpha1.ConditionReady)
	pods, err := c.pods(ctx, server)
	if err != nil {
		return nil, err
	}
	// Without a Deployment no pod is current; the conditions say why there is none.
	template, err := c.template(ctx, server)
	if err != nil {
		template = ""
	}
	for _, pod := range pods {
		p := podFinding{
			Name: pod.Name, Phase: string(pod.Status.Phase), Ready: isReady(pod),
			Current: template != "" && pod.Labels[v1alpha1.LabelTemplate] == template,
			Leaving: pod.DeletionTimestamp != nil, Restarts: restarts(pod), Waiting: waiting(pod),
		}
		if p.Status, err = status(ctx, c, pod); err != nil {
			p.StatusError = err.Error()
		}
		f.Pods = append(f.Pods, p)
	}
	f.Advice = advise(f)
	return f, nil
}

// status reads the sidecar's report through the API server.
func status(ctx context.Context, c cluster, pod corev1.Pod) (*config.Status, error) {
	if pod.Status.Phase != corev1.PodRunning && pod.Status.Phase != corev1.PodPending {
		return nil, fmt.Errorf("the pod is %s", pod.Status.Phase)
	}
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	base, stop, err := c.forward(ctx, pod, config.PortAdmin)
	if err != nil {
		return nil, err
	}
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+config.PathStatus, nil)
	if err != nil {
		return nil, err
	}
	resp, err := (&http.Client{Timeout: statusTimeout}).Do(req)
	if err != nil {
		return nil, fmt.Errorf("its admin port %d does not answer: %w", config.PortAdmin, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the sidecar answered %s", resp.Status)
	}
	// Lenient: a newer sidecar may report more than this plugin knows.
	var s config.Status
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxStatus)).Decode(&s); err != nil {
		return nil, fmt.Errorf("the sidecar's report: %w", err)
	}
	return &s, nil
}

// waiting words the containers that do not run, the user's ones and ours.
func waiting(pod corev1.Pod) (out []string) {
	for _, list := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for _, s := range list {
			if w := s.State.Waiting; w != nil && w.Reason != "PodInitializing" && w.Reason != "ContainerCreating" {
				out = append(out, s.Name+": "+w.Reason+": "+w.Message)
			}
			if t := s.LastTerminationState.Terminated; t != nil {
				out = append(out, fmt.Sprintf("%s: ended before with exit code %d (%s)", s.Name, t.ExitCode, t.Reason))
			}
		}
	}
	return out
}
