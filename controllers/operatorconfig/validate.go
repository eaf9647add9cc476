package operatorconfig

import (
	"net"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const maxNamespaces = 1000

func (c *Config) validate() field.ErrorList {
	var errs field.ErrorList
	if c.APIVersion != APIVersion {
		errs = append(errs, field.NotSupported(field.NewPath("apiVersion"), c.APIVersion, []string{APIVersion}))
	}
	if c.Kind != Kind {
		errs = append(errs, field.NotSupported(field.NewPath("kind"), c.Kind, []string{Kind}))
	}
	errs = append(errs, c.DataPlane.validate(field.NewPath("dataPlane"))...)
	errs = append(errs, c.Operator.validate(field.NewPath("operator"))...)
	errs = append(errs, c.Watch.validate(field.NewPath("watch"))...)
	errs = append(errs, c.Controller.validate(field.NewPath("controller"))...)
	errs = append(errs, c.LeaderElection.validate(field.NewPath("leaderElection"))...)
	errs = append(errs, c.Metrics.validate(field.NewPath("metrics", "bindAddress"))...)
	return append(errs, c.Health.validate(field.NewPath("health", "bindAddress"))...)
}

func (d DataPlane) validate(p *field.Path) (errs field.ErrorList) {
	switch {
	case d.Image == "":
		errs = append(errs, field.Required(p.Child("image"), "the image that holds mcp-sidecar and mcp-agent"))
	case len(d.Image) > 1024 || strings.ContainsAny(d.Image, " \t\r\n"):
		errs = append(errs, field.Invalid(p.Child("image"), d.Image, "is no image reference"))
	}
	switch d.ImagePullPolicy {
	case corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever:
	default:
		errs = append(errs, field.NotSupported(p.Child("imagePullPolicy"), d.ImagePullPolicy,
			[]corev1.PullPolicy{corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever}))
	}
	return errs
}

func (o Operator) validate(p *field.Path) field.ErrorList {
	errs := metav1validation.ValidateLabels(o.PodLabels, p.Child("podLabels"))
	if o.Namespace != "" {
		errs = append(errs, namespace(o.Namespace, p.Child("namespace"))...)
	}
	return errs
}

func (w Watch) validate(p *field.Path) (errs field.ErrorList) {
	if len(w.Namespaces) > maxNamespaces {
		return field.ErrorList{field.TooMany(p.Child("namespaces"), len(w.Namespaces), maxNamespaces)}
	}
	seen := map[string]bool{}
	for i, n := range w.Namespaces {
		at := p.Child("namespaces").Index(i)
		errs = append(errs, namespace(n, at)...)
		if seen[n] {
			errs = append(errs, field.Duplicate(at, n))
		}
		seen[n] = true
	}
	return errs
}

func (c Controller) validate(p *field.Path) field.ErrorList {
	return append(append(
		within(p.Child("concurrency"), c.Concurrency, 1, 64),
		within(p.Child("timeoutSeconds"), c.TimeoutSeconds, 15, 600)...),
		within(p.Child("statusTimeoutSeconds"), c.StatusTimeoutSeconds, 1, 5)...)
}

func (l LeaderElection) validate(p *field.Path) field.ErrorList {
	if !*l.Enabled {
		return nil
	}
	var errs field.ErrorList
	if l.Namespace == "" {
		errs = append(errs, field.Required(p.Child("namespace"), "out of the cluster there is no default"))
	} else {
		errs = append(errs, namespace(l.Namespace, p.Child("namespace"))...)
	}
	for _, msg := range validation.IsDNS1123Subdomain(l.Name) {
		errs = append(errs, field.Invalid(p.Child("name"), l.Name, msg))
	}
	errs = append(errs, within(p.Child("retrySeconds"), l.RetrySeconds, 1, 60)...)
	if l.RenewSeconds <= l.RetrySeconds {
		errs = append(errs, field.Invalid(p.Child("renewSeconds"), l.RenewSeconds, "must be greater than retrySeconds"))
	}
	if l.LeaseSeconds <= l.RenewSeconds || l.LeaseSeconds > 600 {
		errs = append(errs, field.Invalid(p.Child("leaseSeconds"), l.LeaseSeconds, "must be greater than renewSeconds and at most 600"))
	}
	return errs
}

func (l Listener) validate(p *field.Path) field.ErrorList {
	if l.BindAddress == "0" {
		return nil
	}
	if _, _, err := net.SplitHostPort(l.BindAddress); err != nil {
		return field.ErrorList{field.Invalid(p, l.BindAddress, `must be host:port, :port, or "0" for none`)}
	}
	return nil
}

func namespace(n string, p *field.Path) (errs field.ErrorList) {
	for _, msg := range validation.IsDNS1123Label(n) {
		errs = append(errs, field.Invalid(p, n, msg))
	}
	return errs
}

func within(p *field.Path, n, lo, hi int) field.ErrorList {
	if n >= lo && n <= hi {
		return nil
	}
	return field.ErrorList{field.Invalid(p, n, validation.InclusiveRangeError(lo, hi))}
}
