// Command images packs the images of images.yaml into archives in dist/images,
// without Docker. Arguments name the images to make; none means all.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/fairlead-dev/fairlead/hack/images/internal/build"
	"github.com/fairlead-dev/fairlead/hack/images/internal/spec"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "images:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("images", flag.ContinueOnError)
	repo := flags.String("repo", ".", "root of the source tree")
	file := flags.String("f", "hack/images/images.yaml", "what to build, relative to -repo")
	out := flags.String("out", "dist/images", "where the archives go; a relative path is below -repo")
	if err := flags.Parse(args); err != nil {
		return err
	}
	root, err := filepath.Abs(*repo)
	if err != nil {
		return err
	}
	cache := os.Getenv("FAIRLEAD_CACHE")
	if cache == "" {
		cache = filepath.Join(root, ".cache")
	}
	f, err := spec.Load(filepath.Join(root, *file))
	if err != nil {
		return err
	}
	if !filepath.IsAbs(*out) {
		*out = filepath.Join(root, *out)
	}
	b := build.Builder{Repo: root, Cache: filepath.Join(cache, "images"), Out: *out, Log: os.Stderr}
	return b.Build(ctx, f, flags.Args()...)
}
