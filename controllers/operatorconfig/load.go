package operatorconfig

import (
	"errors"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// maxFile bounds the file.
const maxFile = 1 << 20

// Surroundings is what a process knows without the file.
type Surroundings struct {
	// Namespace the process runs in, "" out of the cluster.
	Namespace string
	// DataPlaneImage stands in for an image that the file does not name.
	DataPlaneImage string
}

// LoadFile reads, defaults and validates the file at path; "" means a file
// that says nothing.
func LoadFile(path string, s Surroundings) (Config, error) {
	if path == "" {
		return Load([]byte("apiVersion: "+APIVersion+"\nkind: "+Kind+"\n"), s)
	}
	info, err := os.Stat(path)
	if err != nil {
		return Config{}, fmt.Errorf("operator config: %w", err)
	}
	if info.Size() > maxFile {
		return Config{}, fmt.Errorf("operator config %s: larger than %d bytes", path, maxFile)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return Config{}, fmt.Errorf("operator config: %w", err)
	}
	c, err := Load(data, s)
	if err != nil {
		return Config{}, fmt.Errorf("operator config %s: %w", path, err)
	}
	return c, nil
}

// Load decodes YAML or JSON strictly: an unknown or repeated member is an
// error, because it is a setting that would silently not be in force. The error
// names every problem.
func Load(data []byte, s Surroundings) (Config, error) {
	var c Config
	asJSON, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		return Config{}, err
	}
	// encoding/json would take dataplane for dataPlane.
	strict, err := json.UnmarshalStrict(asJSON, &c)
	if err = errors.Join(append(strict, err)...); err != nil {
		return Config{}, err
	}
	c.setDefaults(s)
	if errs := c.validate(); len(errs) > 0 {
		return Config{}, errs.ToAggregate()
	}
	return c, nil
}

func (c *Config) setDefaults(s Surroundings) {
	orDefault(&c.DataPlane.Image, s.DataPlaneImage)
	orDefault(&c.DataPlane.ImagePullPolicy, corev1.PullIfNotPresent)
	orDefault(&c.Operator.Namespace, s.Namespace)
	if len(c.Operator.PodLabels) == 0 {
		c.Operator.PodLabels = map[string]string{
			"app.kubernetes.io/name": "fairlead", "app.kubernetes.io/component": "manager",
		}
	}
	orDefault(&c.Controller.Concurrency, 4)
	orDefault(&c.Controller.TimeoutSeconds, 60)
	orDefault(&c.Controller.StatusTimeoutSeconds, 2)
	if c.LeaderElection.Enabled == nil {
		c.LeaderElection.Enabled = ptr.To(true)
	}
	orDefault(&c.LeaderElection.Name, "fairlead-manager")
	orDefault(&c.LeaderElection.Namespace, c.Operator.Namespace)
	orDefault(&c.LeaderElection.LeaseSeconds, 15)
	orDefault(&c.LeaderElection.RenewSeconds, 10)
	orDefault(&c.LeaderElection.RetrySeconds, 2)
	orDefault(&c.Metrics.BindAddress, ":8080")
	orDefault(&c.Health.BindAddress, ":8081")
}

func orDefault[T comparable](field *T, def T) {
	var zero T
	if *field == zero {
		*field = def
	}
}
