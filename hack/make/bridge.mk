##@ Bridge

.PHONY: bridge
bridge: ## Clients of every revision in front of workloads of every revision, over HTTP and stdio, through the sidecar.
	@$(LAYER) -name bridge -budget 3m -- go test -count=1 -v ./test/bridge $(ARGS)
