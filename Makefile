# Fairlead: `make help` lists the targets, `make demo` shows what it does and
# `make test` checks it. Both install what they need.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# One set of flags everywhere, so that every module shares compiled packages.
export GOFLAGS := -buildvcs=false -trimpath
export GOTOOLCHAIN := local
export CGO_ENABLED := 0
# Everything that is built or downloaded once; keyed by its inputs inside.
export FAIRLEAD_CACHE ?= $(CURDIR)/.cache

LAYER := go run ./hack/layer

include $(wildcard hack/make/*.mk)

##@ General

.PHONY: help
help: ## Show this help.
	@awk 'BEGIN {FS = ":.*##"; printf "Usage: make TARGET\n"} \
	  /^##@/ {printf "\n%s\n", substr($$0, 5)} \
	  /^[a-zA-Z0-9_-]+:.*##/ {printf "  %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Compile every package and the binaries into bin/.
	go build ./...
	go build -ldflags "-s -w" -o bin/ ./controllers/cmd/... ./sidecar/cmd/...

.PHONY: clean
clean: ## Remove what was built (the cache of tools stays; see clean-cache).
	rm -rf bin dist

.PHONY: clean-cache
clean-cache: $(CLUSTER) ## End every local cluster; remove cached tools, images and state too.
	@$(CLUSTER) down --all
	rm -rf $(FAIRLEAD_CACHE)
