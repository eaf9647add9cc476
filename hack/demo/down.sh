#!/usr/bin/env bash
# Ends what `make demo` started: the local cluster, or, on a cluster of
# KUBECONFIG, the demo's namespace and the operator.
set -euo pipefail
cd "$(dirname "$0")/../.."
ns=${FAIRLEAD_DEMO_NAMESPACE:-demo}
if bin/cluster env | grep -q FAIRLEAD_AUDIT_LOG || [ -z "${KUBECONFIG:-}" ]; then
  exec bin/cluster down
fi
kubectl delete namespace "$ns" --ignore-not-found
kubectl delete -k config/default --ignore-not-found
