##@ Demo and end-to-end

# The clients that tests and demo run on this machine.
CLIENTS := test/peers/clients

.PHONY: peers-clients
peers-clients: ## Install the TypeScript clients (npm ci, once per lock file).
	@lock=$$(sha256sum $(CLIENTS)/package-lock.json | cut -c1-16); \
	if [ ! -e $(CLIENTS)/node_modules/.lock-$$lock ]; then \
	  (cd $(CLIENTS) && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) && touch $(CLIENTS)/node_modules/.lock-$$lock; \
	fi

# Everything that e2e and the demo start on this machine.
.PHONY: e2e-programs
e2e-programs: $(CLUSTER) peers-clients
	@go build -ldflags "-s -w" -o bin/ ./controllers/cmd/kubectl-mcp ./test/load/cmd/mcp-load
	@cd test/peers/go && go build -ldflags "-s -w" -o ../../../bin/peer ./cmd/peer

.PHONY: deploy
deploy: $(CLUSTER) ## Install the operator into the cluster (KUBECONFIG, or the local one) and wait for it.
	@$(CLUSTER) kubectl apply --server-side -k config/default
	@$(CLUSTER) kubectl rollout status -n fairlead-system deployment/fairlead-manager --timeout=180s

.PHONY: demo
demo: export FAIRLEAD_CLUSTER := $(or $(FAIRLEAD_CLUSTER),demo)
demo: images e2e-programs ## The story: from nothing to calls through a rolling update. Ends 0 if each step held.
	@$(MAKE) --no-print-directory cluster-up cluster-load
	@$(CLUSTER) exec -- hack/demo/story.sh

.PHONY: demo-down
demo-down: export FAIRLEAD_CLUSTER := $(or $(FAIRLEAD_CLUSTER),demo)
demo-down: $(CLUSTER) ## End the demo's cluster, or remove the demo from the cluster of KUBECONFIG.
	@hack/demo/down.sh


.PHONY: test-e2e
test-e2e: images e2e-programs ## The core story on a real node, with foreign clients.
	@$(LAYER) -name e2e -budget 10m -- hack/e2e/run.sh core

# An implementation that enforces NetworkPolicy, for one test; about 4 minutes
# of building, once. ipset is a Debian package that only it needs.
NETPOL := hack/tools/netpol

.PHONY: netpol-tools
netpol-tools:
	@command -v ipset >/dev/null || { \
	  [ -z "$${FAIRLEAD_NO_INSTALL:-}" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null || \
	    { echo "missing on this machine: ipset; as root run: apt-get install -y ipset" >&2; exit 1; }; \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq ipset >/dev/null; }
	@mkdir -p bin $(FAIRLEAD_CACHE)/tools
	@out=$(FAIRLEAD_CACHE)/tools/kube-router-$$(cat $(NETPOL)/go.mod $(NETPOL)/go.sum | sha256sum | cut -c1-16); \
	[ -x $$out ] || (cd $(NETPOL) && go build -ldflags "-s -w" -o $$out github.com/cloudnativelabs/kube-router/v2/cmd/kube-router); \
	ln -sfn $$out bin/kube-router

.PHONY: test-e2e-all
test-e2e-all: export FAIRLEAD_KUBE_ROUTER := $(CURDIR)/bin/kube-router
test-e2e-all: images e2e-programs netpol-tools ## All of e2e: rollouts under load, faults, rest, rights.
	@$(LAYER) -name e2e-all -budget 40m -- hack/e2e/run.sh all
