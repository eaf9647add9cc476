##@ Soak

# SOAK is for each workload; all are soaked at the same time. They warm up for
# half of it first, two minutes at least, and rest for half a minute before and
# after.
SOAK ?= 10m

.PHONY: soak
soak: ## Clients of every revision on one sidecar, its workload killed and stopped at random, for SOAK (10m), with each of five workloads.
	@$(LAYER) -name soak -budget 20m -- env SOAK=$(SOAK) go test -count=1 -v -parallel 5 -timeout 4h ./test/soak $(ARGS)
