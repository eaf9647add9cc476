#!/usr/bin/env bash
# The demo: from an empty cluster to calls through a rolling update, in steps
# that a newcomer can read and repeat. `make demo` prepares what it needs and
# runs it where the cluster can be reached. It ends 0 only if each step held.
set -euo pipefail
cd "$(dirname "$0")/../.."
. hack/demo/lib.sh

ns=${FAIRLEAD_DEMO_NAMESPACE:-fairlead-demo}
client=(node test/peers/clients/client.mjs)
mcp=(bin/kubectl-mcp -n "$ns")

# The load runs beside the story in one step; it must not outlive it.
load_pid='' proxy_pid=''
cleanup() {
  for p in $load_pid $proxy_pid; do kill "$p" 2>/dev/null || true; done
  rm -f "$last"
}
trap cleanup EXIT

# endpoint NAME: a URL of the server that works from here: its Service where the
# service network can be reached, the same Service through `kubectl proxy`
# where it cannot.
endpoint() {
  local ip
  ip=$(kubectl get service "$1" -n "$ns" -o 'jsonpath={.spec.clusterIP}')
  if timeout 2 bash -c ": </dev/tcp/$ip/80" 2>/dev/null; then
    echo "http://$ip/mcp"
  else
    echo "http://127.0.0.1:${FAIRLEAD_DEMO_PORT:-18001}/api/v1/namespaces/$ns/services/$1:80/proxy/mcp"
  fi
}

step 'A Kubernetes cluster'
run kubectl get nodes
expect ' Ready ' 'a node that is Ready'

step 'Install Fairlead: one kind, one operator'
run kubectl apply --server-side -k config/default
run kubectl rollout status -n fairlead-system deployment/fairlead-manager --timeout=180s
run kubectl explain mcpserver.spec.workload.command
expect 'ENTRYPOINT' 'an explanation that helps'

step 'Apply four MCP servers'
say 'Two speak over standard input and output and were never made for a network, one speaks'
say 'HTTP, one has a livenessProbe. The namespace enforces Pod Security "restricted".'
# It is deleted at the end, so one that was there before is not taken.
if kubectl get namespace "$ns" >/dev/null 2>&1; then
  [ -n "$(kubectl get namespace "$ns" -l fairlead.dev/demo --field-selector "metadata.name=$ns" -o name)" ] ||
    fail "namespace $ns exists and is not the demo's: name another in FAIRLEAD_DEMO_NAMESPACE"
else
  run kubectl create namespace "$ns"
fi
run kubectl label namespace "$ns" fairlead.dev/demo=true pod-security.kubernetes.io/enforce=restricted --overwrite
run cat config/samples/everything.yaml
run kubectl apply -n "$ns" -k config/samples

step 'The conditions turn Ready'
say 'Ready means that a sidecar has shaken hands with the server in its pod.'
run kubectl wait -n "$ns" --for=condition=Ready mcpserver --all --timeout=300s
run kubectl get mcpservers -n "$ns"
run "${mcp[@]}" check everything
expect 'mcp-servers|2025-11-25' 'the handshake in the report'

url=$(endpoint everything)
if [[ $url == http://127.0.0.1:* ]]; then
  kubectl proxy --port="${FAIRLEAD_DEMO_PORT:-18001}" >/dev/null &
  proxy_pid=$!
  sleep 1
fi

step 'A client of today: TypeScript SDK v1, with a session (2025-11-25)'
run "${client[@]}" --sdk v1 --url "$url" list
expect '"revision":"2025-11-25","session":true' 'a session of 2025-11-25'
run "${client[@]}" --sdk v1 --url "$url" call echo '{"message":"hello from 2025"}'
expect 'Echo: hello from 2025' 'the echo'
run "${client[@]}" --sdk v1 --url "$url" call trigger-elicitation-request
expect 'elicited from the peer client' 'the question of the server answered by the client'

step 'A client of tomorrow: TypeScript SDK v2, without a session (2026-07-28)'
say 'The same URL. The server behind it knows nothing of this revision.'
run "${client[@]}" --sdk v2 --url "$url" list
expect '"revision":"2026-07-28","session":false' 'revision 2026-07-28 and no session'
run "${client[@]}" --sdk v2 --url "$url" call get-sum '{"a":40,"b":2}'
expect '42' 'the sum'

step 'And from the command line'
run "${mcp[@]}" get
run "${mcp[@]}" tools filesystem
run "${mcp[@]}" call filesystem read_text_file '{"path":"/data/library/numbers.csv"}'
expect '3,9' 'the file of the ConfigMap'
run "${mcp[@]}" call gosdk add '{"a":40,"b":2}'
expect '42' 'the sum'

step 'Three pods; a stateless client reaches all of them'
run kubectl scale mcpserver/everything -n "$ns" --replicas=3
run kubectl wait -n "$ns" --for='jsonpath={.status.readyReplicas}=3' mcpserver/everything --timeout=180s
run kubectl get pods -n "$ns" -l mcp.fairlead.dev/server=everything
sleep 2 # until every node knows the new endpoints
say 'Thirty clients of SDK v2 each call the tool get-env once; it names the pod it runs in.'
run "${client[@]}" --sdk v2 --url "$url" spread get-env 30 HOSTNAME
[ "$(grep -oE '"everything-[a-z0-9-]+":[0-9]+' "$last" | wc -l)" = 3 ] || fail 'expected answers from three pods'

step 'A new image while calls run'
say 'Ten clients of 2026-07-28 call without pause; half of the calls take 2 to 4 seconds.'
load_out=$(mktemp)
load=(bin/mcp-load -url "$url" -duration 10m -modern 10 -rate 20 -legacy 0 -slow-max 4s)
printf '   %s$ %s &%s\n' "$bold" "${load[*]}" "$plain"
"${load[@]}" >"$load_out.json" 2>"$load_out" &
load_pid=$!
sleep 5
image=$(kubectl get mcpserver/everything -n "$ns" -o 'jsonpath={.spec.workload.image}')
run kubectl patch mcpserver/everything -n "$ns" --type=merge -p "{\"spec\":{\"workload\":{\"image\":\"${image%:*}:next\"}}}"
run kubectl rollout status -n "$ns" deployment/everything --timeout=300s
run kubectl wait -n "$ns" --for=condition=Ready mcpserver/everything --timeout=120s
sleep 3
kill -TERM "$load_pid"
rc=0; wait "$load_pid" || rc=$?
load_pid=''
say "$(cat "$load_out")"
[ "$rc" = 0 ] || { head -c 3000 "$load_out.json"; fail 'calls failed during the rolling update'; }
grep -q ', 0 failed' "$load_out" || fail 'expected no failed call'
rm -f "$load_out" "$load_out.json"

step 'What the sidecar counted'
pod=$(kubectl get pods -n "$ns" -l mcp.fairlead.dev/server=everything --sort-by=.metadata.creationTimestamp -o 'jsonpath={.items[-1:].metadata.name}')
run bash -c "kubectl get --raw /api/v1/namespaces/$ns/pods/$pod:17090/proxy/metrics | grep -E \"^mcp_server_operation_duration_seconds_count|^fairlead_build_info\""
expect 'tools/call' 'calls in the metrics'

step 'Delete leaves nothing'
run kubectl delete -n "$ns" -k config/samples
run kubectl wait -n "$ns" --for=delete pod -l mcp.fairlead.dev/server --timeout=180s
run kubectl get -n "$ns" -l mcp.fairlead.dev/server deployments,replicasets,pods,services,configmaps,secrets,serviceaccounts,poddisruptionbudgets,networkpolicies
expect 'No resources found' 'no object left'
kubectl delete namespace "$ns" --wait=false >/dev/null

printf '\n%sEvery step held, in %d s.%s make demo-down ends the cluster.\n' "$bold" "$((SECONDS - begun))" "$plain"
