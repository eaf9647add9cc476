##@ Soak

# SOAK is shared by the workloads; each warms up for a tenth of its time first
# and may take a minute to come to rest.
SOAK ?= 10m

.PHONY: soak
soak: ## Clients of every revision on one sidecar, its workload killed and stopped at random, for SOAK (10m) in all.
	@$(LAYER) -name soak -budget 20m -- env SOAK=$(SOAK) go test -count=1 -v -timeout 4h ./test/soak $(ARGS)
