#!/usr/bin/env bash
# Ends what `make demo` started: the local cluster, or, on a cluster of
# KUBECONFIG, the demo's namespace and the operator. Fairlead stays there while
# anybody else has an McpServer: with the kind, it would be deleted too.
set -euo pipefail
cd "$(dirname "$0")/../.."
ns=${FAIRLEAD_DEMO_NAMESPACE:-fairlead-demo}
if bin/cluster env | grep -q FAIRLEAD_AUDIT_LOG || [ -z "${KUBECONFIG:-}" ]; then
  exec bin/cluster down
fi
# The label keeps a namespace that was there before the demo.
kubectl delete namespace -l fairlead.dev/demo --field-selector "metadata.name=$ns" --ignore-not-found
if [ -n "$(kubectl get crd mcpservers.mcp.fairlead.dev --ignore-not-found -o name)" ]; then
  others=$(kubectl get mcpservers --all-namespaces -o name)
  if [ -n "$others" ]; then
    echo "There are other McpServers in this cluster, so the operator stays; kubectl delete -k config/default would delete them."
    exit 0
  fi
fi
kubectl delete -k config/default --ignore-not-found
