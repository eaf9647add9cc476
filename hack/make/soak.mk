##@ Soak

# SOAK is for each workload; as many as there are CPUs are soaked at the same
# time. Each warms up for a fifth of its time first, and rests for half a minute
# before and after.
SOAK ?= 10m

.PHONY: soak
soak: ## Clients of every revision on one sidecar, its workload killed and stopped at random, for SOAK (10m) a workload.
	@$(LAYER) -name soak -budget 50m -- env SOAK=$(SOAK) go test -count=1 -v -timeout 4h ./test/soak $(ARGS)
