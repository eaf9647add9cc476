##@ Local cluster (FAIRLEAD_CLUSTER names it, default dev; see docs/local-cluster.md)

CLUSTER := bin/cluster

# Always asked for: the Go command knows best whether anything changed.
.PHONY: $(CLUSTER)
$(CLUSTER):
	@go build -o $@ ./hack/cluster

.PHONY: cluster-build
cluster-build: $(CLUSTER) ## Build Kubernetes, etcd, containerd, runc and CNI plugins, once (cached).
	@$(CLUSTER) build

.PHONY: cluster-up
cluster-up: $(CLUSTER) ## Start a real single-node Kubernetes, or check the one of KUBECONFIG.
	@$(CLUSTER) up

.PHONY: cluster-down
cluster-down: $(CLUSTER) ## End it, and fail if anything of it is left.
	@$(CLUSTER) down

.PHONY: cluster-status
cluster-status: $(CLUSTER) ## Show its components, kubeconfig, audit log and logs.
	@$(CLUSTER) status

.PHONY: images
images: ## Pack all images into dist/images without Docker (IMAGES="a b" for some).
	@go run ./hack/images $(IMAGES)

.PHONY: cluster-load
cluster-load: $(CLUSTER) images ## Pack the images and load those that the node does not have yet.
	@$(CLUSTER) load dist/images/*.tar

.PHONY: cluster-smoke
cluster-smoke: $(CLUSTER) ## Up, run a pod, pull, miss an image, hold a component, down: nothing left.
	@hack/cluster/smoke.sh

.PHONY: envtest-assets
envtest-assets: $(CLUSTER) ## Build only etcd, kube-apiserver and kubectl; print KUBEBUILDER_ASSETS.
	@$(CLUSTER) assets
