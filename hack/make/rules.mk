##@ Evidence

.PHONY: rules
rules: ## Every rule of docs/protocol against its tests; breaks some on purpose.
	go run ./hack/rules -break

.PHONY: bench
bench: ## The runtime against null programs in the same run; fails when a bar is missed by more than a quarter.
	go run ./test/perf $(ROWS)
