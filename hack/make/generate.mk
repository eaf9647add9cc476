##@ Generate and verify

LINT := go tool -modfile=hack/tools/lint/go.mod golangci-lint-kube-api-linter run --allow-parallel-runners

.PHONY: generate
generate: ## Make deepcopy, CRD, RBAC and apply configurations from the Go types.
	@hack/verify/generate.sh

.PHONY: verify
verify: verify-fast verify-generated lint ## Everything that needs no test run: generated files, house rules, linters.

.PHONY: verify-fast
verify-fast: verify-rules verify-protocol vet ## House rules and vet: what a commit must pass, in seconds when warm.

.PHONY: verify-rules
verify-rules: ## Import rules, package docs, formatting, file sizes, words.
	@go run ./hack/verify

.PHONY: verify-protocol
verify-protocol: ## The text of the protocol's rules, their table and the tests agree.
	@go run ./hack/rules -quiet

.PHONY: verify-generated
verify-generated: ## Fail when `make generate` would change something.
	@hack/verify/generated.sh

.PHONY: vet
vet: ## go vet on every package of every module, with every build tag.
	@go vet -tags e2e ./...
	@cd test/peers/go && go vet ./...

.PHONY: lint
lint: lint-code lint-api ## Linters: .golangci.yml on all code, .golangci-api.yml on api/.

.PHONY: lint-code
lint-code:
	@$(LINT) --config .golangci.yml ./...

.PHONY: lint-api
lint-api:
	@$(LINT) --config .golangci-api.yml ./api/...
