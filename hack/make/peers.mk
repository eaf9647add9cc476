##@ Peers

# Foreign servers and the Inspector, with the Node that runs them.
PEER_SERVERS := test/peers/servers

.PHONY: peers-servers
peers-servers: ## Install the foreign servers and the Inspector (npm ci, once per lock file).
	@lock=$$(sha256sum $(PEER_SERVERS)/package-lock.json | cut -c1-16); \
	if [ ! -e $(PEER_SERVERS)/node_modules/.lock-$$lock ]; then \
	  (cd $(PEER_SERVERS) && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) && touch $(PEER_SERVERS)/node_modules/.lock-$$lock; \
	fi

.PHONY: peers-programs
peers-programs: peers-clients peers-servers
	@cd test/peers/go && go build -ldflags "-s -w" -o ../../../bin/peer ./cmd/peer && go build -ldflags "-s -w" -o ../../../bin/peer-server ./cmd/server

# Most rows wait for reconnection times that are the SDKs' own: many at once.
.PHONY: peers
peers: peers-programs ## Programs of others against ours, directly and through the sidecar (ARGS="-run …" for some).
	@$(LAYER) -name peers -budget 6m -- bash -euo pipefail -c "go test -count=1 -v -timeout 20m -parallel 12 -tags peers ./test/interop ./test/laptop $(ARGS) | grep --line-buffered -v '^=== '"
