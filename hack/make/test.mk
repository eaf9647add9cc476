##@ Test

# Layers of `make test`, in the order they run, and what each may take on two
# idle cores with warm caches; `tools` is the cold build of a whole Kubernetes.
.PHONY: test
test: ## Everything a change must pass: under 60 minutes on 2 cores from a clean clone.
	@start=$$SECONDS; \
	$(MAKE) --no-print-directory test-tools test-static test-unit test-race test-rules test-envtest test-dataplane test-conformance test-e2e; \
	echo "=== make test: $$(( (SECONDS - start) / 60 )) min $$(( (SECONDS - start) % 60 )) s"

.PHONY: test-all
test-all: ## make test and the slow rest: all of e2e, a soak, fuzzing, lint.
	@$(MAKE) --no-print-directory test
	@$(MAKE) --no-print-directory verify
	@$(MAKE) --no-print-directory test-integration
	@$(MAKE) --no-print-directory soak SOAK=1m
	@$(MAKE) --no-print-directory fuzz
	@$(MAKE) --no-print-directory test-e2e-all

.PHONY: test-tools
test-tools: ## Build or find the cluster binaries that the layers below need.
	@$(LAYER) -name tools -budget 25m -- $(MAKE) --no-print-directory cluster-build

.PHONY: test-static
test-static: ## Import rules, package docs, formatting, vet.
	@$(LAYER) -name static -budget 5m -- $(MAKE) --no-print-directory verify-fast

.PHONY: test-unit
test-unit: ## Unit tests without a cluster, without the race detector.
	@$(LAYER) -name unit -budget 5m -- go test ./api/... ./hack/... ./controllers/internal/... ./controllers/operatorconfig/... ./controllers/mcpserver/desired/... ./controllers/cmd/... ./test/load/... ./test/workloads/... ./test/conformance/...

.PHONY: test-race
test-race: ## The protocol library and the sidecar under the race detector.
	@CGO_ENABLED=1 $(LAYER) -name race -budget 8m -- go test -race ./runtime/... ./sidecar/...

.PHONY: test-rules
test-rules: ## Rules of the protocol broken on purpose: their tests must fail.
	@$(LAYER) -name rules -budget 4m -- $(MAKE) --no-print-directory rules

.PHONY: test-envtest
test-envtest: ## Operator, CRD and samples against a real API server.
	@$(LAYER) -name envtest -budget 6m -- bash -eu -c 'assets=$$($(MAKE) -s --no-print-directory envtest-assets); KUBEBUILDER_ASSETS=$$assets go test ./controllers/app/... ./controllers/mcpserver ./test/cel/...'

.PHONY: test-integration
test-integration: ## The running manager against a real API server, the kubelet played.
	@$(LAYER) -name integration -budget 6m -- bash -eu -c 'assets=$$($(MAKE) -s --no-print-directory envtest-assets); KUBEBUILDER_ASSETS=$$assets go test ./test/integration/...'

# Go does not see the programs that these tests run, so nothing is taken from its cache.
.PHONY: test-dataplane
test-dataplane: ## The real sidecar and agent as processes, without a cluster.
	@$(LAYER) -name dataplane -budget 4m -- go test -count=1 ./test/dataplane/...

.PHONY: fuzz
fuzz: ## Every fuzz target for FUZZTIME (60s) each.
	@$(LAYER) -name fuzz -budget 60m -- hack/verify/fuzz.sh $(or $(FUZZTIME),60s)
