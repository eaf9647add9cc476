#!/usr/bin/env bash
# Generates everything that is generated, in the tree of the given folder:
# deepcopy, CRD, RBAC, apply configurations and the references of conditions
# and metrics.
# Run by `make generate` on this tree and by `make verify-generated` on a copy.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
tree=${1:-$root}

cd "$root"
controller_gen=$(go tool -modfile=hack/tools/gen/go.mod -n controller-gen)
conditions=$(go run ./hack/gen/conditions "$tree")
metrics=$(go run ./hack/gen/metricsdoc)

cd "$tree"
rm -rf controllers/applyconfiguration
"$controller_gen" object crd applyconfiguration paths=./api/... output:crd:dir=config/crd/bases
"$controller_gen" rbac:roleName=fairlead-manager paths=./controllers/... output:rbac:dir=config/rbac
mkdir -p docs/reference
printf '%s\n' "$conditions" > docs/reference/conditions.md
printf '%s\n' "$metrics" > docs/reference/metrics.md
