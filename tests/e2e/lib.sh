# shellcheck shell=bash
# What the numbered tests share.  A test sources this, does things as a user would, and checks with
# `check` and `within`.  At its end everything it started must be gone, or it fails.
set -euo pipefail

TEST=$(basename "$0" .sh)
WORK=$(mktemp -d "${TMPDIR:-/tmp}/e2e-$TEST.XXXXXX")
chmod 755 "$WORK"
export PILOT_HOME=$WORK/home TMPDIR=$WORK/tmp
mkdir "$TMPDIR"
cd "$WORK"
if [ -n "${PILOT_PREFIX:-}" ]; then PATH=$PILOT_PREFIX/bin:$PATH; fi

exec 3>&1 # what is said is never part of a redirected result
say() { echo "[$TEST $(date +%T)] $*" >&3; }

fail() {
  say "FAILED: $*"
  exit 1
}
# ctest's limit is near: what hangs has had the signal too, and our exit still says what it sees and cleans up.
passed='its beginning'
trap 'fail "not at its end within its time; the last that passed: $passed"' TERM
passes() {
  passed=$*
  say "ok: $*"
}

skip() {
  say "SKIPPED: $*"
  exit 77
}

# check WHAT COMMAND...: the command must succeed.
check() {
  local what=$1
  shift
  if "$@"; then passes "$what"; else fail "$what"; fi
}

# refuses CODE TEXT COMMAND...: the command must exit with CODE and say TEXT on standard error.
refuses() {
  local code=$1 text=$2 got=0
  shift 2
  "$@" >"$WORK/refused.out" 2>"$WORK/refused.err" || got=$?
  [ "$got" -eq "$code" ] || fail "'$*' exited with $got instead of $code: $(cat "$WORK/refused.err")"
  grep -qF -- "$text" "$WORK/refused.err" || fail "'$*' does not say '$text' but: $(cat "$WORK/refused.err")"
  passes "refused with $code: $(head -1 "$WORK/refused.err")"
}

# within SECONDS WHAT COMMAND...: the command must succeed before the time is over.  Its words are expanded once: what
# has to be looked up again each time is a function.
within() {
  local deadline=$((SECONDS + $1)) what=$2
  shift 2
  until "$@"; do
    [ "$SECONDS" -lt "$deadline" ] || fail "$what: not within the time"
    read -r -t 0.2 <> <(:) || true
  done
  passes "$what"
}

# json EXPRESSION < document: prints the value of a Python expression over the document `d`.
json() { python3 -c 'import json, sys; d = json.load(sys.stdin); print(eval(sys.argv[1]))' "$1"; }

# status_of PILOT EXPRESSION
status_of() { pilot status "$1" --json | json "$2"; }

# pid_of PILOT WHO: the process of a service, of `head`, or of a node's agent.
pid_of() {
  status_of "$1" "([d['head']['pid']] if '$2' == 'head' else
    [n['agent_pid'] for n in d['nodes'] if n['id'] == '$2'] + [s['pid'] for s in d['services'] if s['id'] == '$2'])[0]"
}

is_ready() { [ "$(status_of "$1" "d['state']" 2>/dev/null)" = ready ]; }

# another_process PILOT WHO OLD-PID: it runs again, as another process.
another_process() {
  local now
  now=$(pid_of "$1" "$2" 2>/dev/null) || return 1
  [ "$now" != 0 ] && [ "$now" != "$3" ]
}

# A zombie has ended; who should collect it is another matter.
runs() { kill -0 "$1" 2>/dev/null && ! grep -q '^State:[[:space:]]*Z' "/proc/$1/status" 2>/dev/null; }
gone() { ! runs "$1"; }

# service_is PILOT SERVICE STATE
service_is() { [ "$(status_of "$1" "[s['state'] for s in d['services'] if s['id'] == '$2'][0]" 2>/dev/null)" = "$3" ]; }

# restarted PILOT SERVICE OLD-PID: it runs as another process and answers.
restarted() { another_process "$@" && service_is "$1" "$2" ready; }

# Processes of this test's pilots: each carries the pilot's folder in its command line or environment.
processes_of_this_test() {
  local entry
  for entry in /proc/[0-9]*; do
    local pid=${entry#/proc/}
    if [ "$pid" = $$ ] || [ "$pid" = "$BASHPID" ]; then continue; fi
    if grep -qzxF "PILOT_HOME=$WORK/home" "$entry/environ" 2>/dev/null &&
      grep -qaE "pilot-agent|java|miniapp|pilot-kafka" "$entry/cmdline" 2>/dev/null; then
      echo "$pid $(tr '\0' ' ' <"$entry/cmdline" | cut -c1-160)"
    fi
  done
}

# Nothing is left: no process, no listening loopback port of a pilot, no scratch folder.
nothing_left() {
  local left
  left=$(processes_of_this_test)
  [ -z "$left" ] || { say "left running: $left"; return 1; }
  left=$(find "$TMPDIR" -mindepth 1 -maxdepth 1 -name 'pilot-*' 2>/dev/null)
  [ -z "$left" ] || { say "left in scratch: $left"; return 1; }
}

at_exit() {
  local code=$? name left
  trap - EXIT
  if [ "$code" -ne 0 ] && [ "$code" -ne 77 ]; then
    say "--- what the agents and services said last"
    tail -n 15 "$PILOT_HOME"/pilots/*/logs/*.log "$PILOT_HOME"/pilots/*/logs/*/*.log 2>/dev/null || true
  fi
  for name in $(pilot list --json 2>/dev/null | json "' '.join(p['name'] for p in d['pilots'])" 2>/dev/null); do
    pilot stop "$name" >/dev/null 2>&1 || true
  done
  left=$(processes_of_this_test)
  if [ -n "$left" ]; then
    say "FAILED: left running: $left"
    echo "$left" | cut -d' ' -f1 | xargs -r kill -9
    [ "$code" -ne 0 ] || code=1
  fi
  rm -rf "$WORK"
  exit "$code"
}
trap at_exit EXIT

# data_flow PILOT: its source has made the topic.
data_flow() {
  pilot-kafka topic describe frames --config "$PILOT_HOME/pilots/$1/client/client.librdkafka.properties" >/dev/null 2>&1
}
