##@ Conformance

# The protocol's official suite and the Node that runs it, from npm.
SUITE := test/conformance/suite
CONFORMANCE := bin/conformance -dir $(FAIRLEAD_CACHE)/conformance

.PHONY: conformance-suite
conformance-suite: ## Install the conformance suite (npm ci, once per lock file).
	@lock=$$(sha256sum $(SUITE)/package-lock.json | cut -c1-16); \
	if [ ! -e $(SUITE)/node_modules/.lock-$$lock ]; then \
	  (cd $(SUITE) && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) && touch $(SUITE)/node_modules/.lock-$$lock; \
	fi

.PHONY: conformance-programs
conformance-programs: conformance-suite
	@go build -ldflags "-s -w" -o bin/ ./test/conformance/cmd/... ./sidecar/cmd/mcp-sidecar

.PHONY: conformance
conformance: conformance-programs ## The official suite on our server, sidecar and client, all revisions (ARGS="-set … -only …" for some).
	@$(LAYER) -name conformance -budget 4m -- $(CONFORMANCE) $(ARGS)

# All of it takes two minutes, so `make test` has it whole; there it must say
# what docs/conformance.md says.
.PHONY: test-conformance
test-conformance: conformance-programs
	@$(LAYER) -name conformance -budget 4m -- $(CONFORMANCE) -check

.PHONY: conformance-bridge
conformance-bridge: conformance-programs ## Only mcp-sidecar in front of {legacy, modern} builds over {HTTP, stdio} (VIA=legacy-stdio for some).
	@$(LAYER) -name conformance-bridge -budget 4m -- $(CONFORMANCE)-bridge -via $(or $(VIA),all) $(ARGS)
