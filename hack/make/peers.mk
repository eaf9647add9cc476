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

.PHONY: peers
peers: peers-programs ## Our client against servers of others, their clients against our server (ARGS="-run …" for some).
	@$(LAYER) -name peers -budget 5m -- bash -euo pipefail -c "go test -count=1 -v -tags peers ./test/interop ./test/laptop $(ARGS) | grep -v '^=== '"
