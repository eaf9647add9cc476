#!/usr/bin/env bash
# Runs e2e: run.sh core|all. Without KUBECONFIG on a local cluster of its own
# (FAIRLEAD_CLUSTER, default e2e), which ends with the run unless KEEP=1.
set -euo pipefail
cd "$(dirname "$0")/../.."
export FAIRLEAD_CLUSTER=${FAIRLEAD_CLUSTER:-e2e}
case ${1:-} in
core) runs=('-test.run ^TestCore') ;;
all) runs=('-test.skip ^TestLast' '-test.run ^TestLast') ;;
*) echo "usage: $0 core|all" >&2; exit 2 ;;
esac

down() {
  if [ -z "${KEEP:-}" ]; then bin/cluster down; fi
}
trap down EXIT
make --no-print-directory cluster-up cluster-load deploy

test=${FAIRLEAD_CACHE:-.cache}/e2e.test
go test -c -tags e2e -o "$test" ./test/e2e
failed=0
for r in "${runs[@]}"; do
  # Four tests at a time: more would only wait for the two cores.
  # shellcheck disable=SC2086 # the words of $r are separate arguments
  bin/cluster exec -- "$test" -test.v -test.timeout 60m -test.parallel "${E2E_PARALLEL:-4}" $r ${E2E_FLAGS:-} || failed=1
done
exit "$failed"
