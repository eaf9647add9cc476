package app

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"strings"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/fairlead-dev/fairlead/controllers/operatorconfig"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// namespaceFile tells a pod its namespace.
const namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

type flags struct {
	config       string
	sidecarImage string
	level        slog.LevelVar
	version      bool
}

// Main is the whole program: it returns the exit code when ctx ends or
// something fails. The API server is found as kubectl finds it (KUBECONFIG) or,
// in a pod, by its ServiceAccount.
func Main(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	f, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		return exitUsage
	case f.version:
		fmt.Fprintln(stdout, Version())
		return exitOK
	}
	log := logr.FromSlogHandler(slog.NewJSONHandler(stderr, &slog.HandlerOptions{Level: &f.level}))
	ctrl.SetLogger(log)
	klog.SetLogger(log)
	if err := run(ctx, f, getenv, log); err != nil {
		log.Error(err, "The manager ends")
		return exitFailed
	}
	return exitOK
}

func parse(args []string, stderr io.Writer) (*flags, error) {
	f := &flags{}
	fs := flag.NewFlagSet("manager", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.StringVar(&f.config, "config", "", "`file` with the operator's configuration ("+operatorconfig.APIVersion+"); without one the defaults hold")
	fs.StringVar(&f.sidecarImage, "sidecar-image", "", "`image` with mcp-sidecar and mcp-agent, when the file does not name one (dataPlane.image)")
	fs.TextVar(&f.level, "log-level", &f.level, "DEBUG, INFO, WARN or ERROR")
	fs.BoolVar(&f.version, "version", false, "print the version and exit")
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	if fs.NArg() > 0 {
		fmt.Fprintf(stderr, "manager takes no arguments, only flags: %q\n", fs.Arg(0))
		return nil, errors.New("arguments")
	}
	return f, nil
}

func run(ctx context.Context, f *flags, getenv func(string) string, log logr.Logger) error {
	c, err := operatorconfig.LoadFile(f.config, operatorconfig.Surroundings{
		Namespace: ownNamespace(getenv, namespaceFile), DataPlaneImage: f.sidecarImage,
	})
	if err != nil {
		return err
	}
	access, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("no access to an API server: %w", err)
	}
	mgr, err := NewManager(access, Options{Config: c, Logger: log, Registerer: metrics.Registry})
	if err != nil {
		return err
	}
	log.Info("Starting", "version", Version(), "sidecarImage", c.DataPlane.Image, "namespaces", c.Watch.Namespaces)
	return mgr.Start(ctx)
}

// ownNamespace is POD_NAMESPACE, else what the ServiceAccount's files say, else
// "" for out of the cluster.
func ownNamespace(getenv func(string) string, file string) string {
	if n := getenv("POD_NAMESPACE"); n != "" {
		return n
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// Version is the module's version as the build recorded it.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}
