#!/usr/bin/env bash
# Shows that the local cluster does what the tests rely on, in a cluster of its
# own, and that nothing of it is left. `make cluster-smoke` runs it.
set -euo pipefail
cd "$(dirname "$0")/../.."
unset KUBECONFIG
export FAIRLEAD_CLUSTER=smoke
cluster=bin/cluster
manifests=hack/cluster/testdata/smoke.yaml

step() { printf '\n== %s\n' "$*"; }
fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
kubectl() { "$cluster" kubectl "$@"; }
# eventually SECONDS COMMAND…: until it succeeds.
eventually() {
  local until=$((SECONDS + $1)); shift
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $until ] || { "$@" || true; fail "not within its time: $*"; }
    sleep 0.2
  done
}
sysctls() { cat /proc/sys/kernel/panic /proc/sys/kernel/panic_on_oops /proc/sys/vm/overcommit_memory; }
# What the machine shows of any cluster: folders that components like to make.
traces() { ls -d /var/lib/kubelet /var/lib/containerd /var/lib/cni /etc/cni /opt/cni /opt/containerd /run/containerd /usr/libexec/kubernetes 2>/dev/null || true; }
# Members of an audit event come in a fixed order.
wrote() { grep -Eq "\"stage\":\"ResponseComplete\".*\"verb\":\"$1\".*\"username\":\"$2\".*\"resource\":\"$3\"" "$audit"; }
trap '[ $? -eq 0 ] || "$cluster" down || true' EXIT

sysctls_before=$(sysctls) traces_before=$(traces)

step "up"
"$cluster" down
"$cluster" up
audit=$(eval "$("$cluster" env)"; echo "$FAIRLEAD_AUDIT_LOG")

step "images: load, then push one into the loopback registry"
go run ./hack/images gosdk everything-numeric
"$cluster" load dist/images/gosdk.tar dist/images/everything-numeric.tar
"$cluster" load dist/images/gosdk.tar 2>&1 | grep -q '0 of 1 images loaded' || fail "an image that is there was loaded again"
"$cluster" registry push dist/images/gosdk.tar localhost:5000/smoke/gosdk:1

step "pods: a probe, a pull, Pod Security restricted, an image that nobody has"
kubectl apply -f "$manifests"
kubectl wait --for=condition=Ready pod/probed pod/pulled --timeout=60s
kubectl -n smoke-restricted wait --for=condition=Ready pod/restricted --timeout=60s
! kubectl -n smoke-restricted run root --image=fairlead.dev/gosdk:dev 2>/dev/null || fail "Pod Security let an unrestricted pod in"
unknown_image() { kubectl get pod unknown -o jsonpath='{.status.containerStatuses[0].state.waiting.reason}' | grep -E '^(ErrImagePull|ImagePullBackOff)$'; }
eventually 10 unknown_image

step "network: pod and service from outside, service from a pod"
pod=$(kubectl get pod probed -o jsonpath='{.status.podIP}')
service=$(kubectl get service probed -o jsonpath='{.spec.clusterIP}')
for address in "$pod:3000" "$service:80"; do
  eventually 10 "$cluster" exec -- curl -sS -m 2 -o /dev/null "http://$address/mcp"
done
kubectl exec caller -- node -e "fetch('http://$service/mcp').then(r => process.exit(r.status > 0 ? 0 : 1))"

step "a component is held, released, restarted"
"$cluster" hold kube-apiserver
! kubectl get nodes --request-timeout=2s >/dev/null 2>&1 || fail "the API server answers while it is held"
"$cluster" exec -- curl -sS -m 2 -o /dev/null "http://$service/mcp" # pods go on
"$cluster" release kube-apiserver
"$cluster" restart kubelet
kubectl get nodes

step "the audit log names who wrote what"
wrote create kubernetes-admin pods || fail "no create of pods by kubernetes-admin in $audit"

step "down with pods, and a program in its network"
"$cluster" exec -- sleep 600 &
guest=$!
eventually 5 bash -c "[ \"\$(readlink /proc/$guest/ns/net)\" != \"\$(readlink /proc/self/ns/net)\" ]"
"$cluster" down
! kill -0 $guest 2>/dev/null || fail "the program in the node's network outlived it"

step "up over the remains of a killed run"
"$cluster" up
kill -9 "$("$cluster" status -o json | sed -n 's/^  "pid": \([0-9]*\),$/\1/p')"
stopped() { ! "$cluster" status; }
eventually 10 stopped
"$cluster" up
kubectl get nodes
"$cluster" down

step "nothing is left"
[ -z "$(find /sys/fs/cgroup -maxdepth 2 -name 'fairlead-smoke-*' 2>/dev/null)" ] || fail "control groups"
! grep -q "$PWD/.cache/cluster/smoke" /proc/self/mountinfo || fail "mounts"
[ "$(sysctls)" = "$sysctls_before" ] || fail "kernel settings of the machine changed"
[ "$(traces)" = "$traces_before" ] || fail "folders on the machine: $(traces)"
printf '\nOK: the local cluster does what the tests rely on (%d s)\n' $SECONDS
