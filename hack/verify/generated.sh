#!/usr/bin/env bash
# Fails when a generated file is not what its sources make: generates in a copy
# of the tree, uncommitted changes included, and compares. Changes nothing here.
set -euo pipefail

cd "$(dirname "$0")/../.."
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

git ls-files -z --cached --others --exclude-standard -- go.mod go.sum api controllers runtime sidecar config docs/reference |
  while IFS= read -r -d '' file; do
    # A file that was deleted and not yet committed is listed, but not there.
    if [[ -e $file ]]; then printf '%s\0' "$file"; fi
  done |
  tar --create --null --files-from=- | tar --extract --directory="$copy"

hack/verify/generate.sh "$copy"

failed=0
for path in api config/crd config/rbac controllers/applyconfiguration docs/reference; do
  diff --recursive --unified --new-file "$path" "$copy/$path" || failed=1
done
if ((failed)); then
  echo "generated files are not up to date: run \`make generate\` and commit the result" >&2
  exit 1
fi
