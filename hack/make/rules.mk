##@ Evidence

.PHONY: rules
rules: ## Every rule of docs/protocol against its tests; breaks some on purpose.
	go run ./hack/rules -break

# Foreign bridges that the bench compares with, and the Node that runs them.
BRIDGES := test/peers/bridges

.PHONY: bench-bridges
bench-bridges: ## Install the foreign bridges (npm ci, once per lock file).
	@lock=$$(sha256sum $(BRIDGES)/package-lock.json | cut -c1-16); \
	if [ ! -e $(BRIDGES)/node_modules/.lock-$$lock ]; then \
	  (cd $(BRIDGES) && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) && touch $(BRIDGES)/node_modules/.lock-$$lock; \
	fi

.PHONY: bench
bench: bench-bridges ## Runtime and bridge against null programs and bridges of others in the same run; fails when a bar is missed by more than a quarter.
	go run ./test/perf $(ROWS)
