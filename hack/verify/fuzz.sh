#!/usr/bin/env bash
# Runs every fuzz target of the root module for the given time each. Targets
# are found, not listed, so that a new one cannot be forgotten.
set -euo pipefail
time=${1:?usage: fuzz.sh DURATION}
found=0
while IFS=: read -r file target; do
  found=$((found + 1))
  echo "--- $(dirname "$file") $target"
  go test "./$(dirname "$file")" -run '^$' -fuzz "^${target}\$" -fuzztime "$time"
done < <(git ls-files '*_test.go' | xargs grep -HoE '^func Fuzz[A-Za-z0-9_]+' | sed 's/:func /:/' | sort)
[ "$found" -gt 0 ] || { echo "no fuzz target found" >&2; exit 1; }
echo "$found fuzz targets, $time each"
