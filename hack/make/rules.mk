##@ Evidence

.PHONY: rules
rules: ## Every rule of docs/protocol against its tests; breaks some on purpose.
	go run ./hack/rules -break
