# How the demo tells its story: numbered steps, each command printed as one
# would type it, its output, and a check that ends the demo when it fails.
# Sourced by story.sh.

begun=$SECONDS
step_no=0
last=$(mktemp)
trap 'rm -f "$last"' EXIT

if [ -t 1 ]; then bold=$'\e[1m' dim=$'\e[2m' plain=$'\e[0m'; else bold='' dim='' plain=''; fi

# step TITLE: begin the next step.
step() {
  step_no=$((step_no + 1))
  printf '\n%s%d. %s%s %s(%d s)%s\n' "$bold" "$step_no" "$1" "$plain" "$dim" "$((SECONDS - begun))" "$plain"
}

# say TEXT: a line of explanation.
say() { printf '   %s\n' "$1"; }

# run COMMAND...: print it, run it, show what it says; its output stays in $last.
run() {
  local words=() w
  for w in "$@"; do
    if [[ $w =~ ^[A-Za-z0-9_./:=@,+-]+$ ]]; then words+=("$w"); else words+=("'$w'"); fi
  done
  printf '   %s$ %s%s\n' "$bold" "${words[*]}" "$plain"
  local rc=0
  "$@" >"$last" 2>&1 || rc=$?
  cut -c1-"${COLUMNS:-180}" "$last" | sed 's/^/   /'
  [ "$rc" = 0 ] || fail "the command ended with code $rc"
}

# expect PATTERN WHAT: the last output must match, or the step did not hold.
expect() {
  grep -Eq -- "$1" "$last" || fail "expected $2"
}

fail() {
  printf '\n%sStep %d did not hold: %s.%s\n' "$bold" "$step_no" "$1" "$plain" >&2
  printf 'Everything is still there to look at: bin/cluster exec -- bash; make demo-down ends it.\n' >&2
  exit 1
}
