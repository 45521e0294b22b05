#!/usr/bin/env bash
# Who has not the pilot's secret gets nothing: from Kafka, from the agents, from the folder.
. "$(dirname "$0")/lib.sh"

check "a pilot starts" pilot start demo --nodes 1 --framework kafka
eval "$(pilot env demo)"
check "with the secret it answers" pilot-kafka topic list --config "$PILOT_KAFKA_CONFIG"
sed 's/^sasl.password=.*/sasl.password=wrong/' "$PILOT_KAFKA_CONFIG" >wrong.properties
grep -vE '^(sasl|security)' "$PILOT_KAFKA_CONFIG" >none.properties
if pilot-kafka topic list --config wrong.properties 2>refused; then fail "a wrong secret is accepted"; fi
check "a wrong secret is refused" grep -qiE "invalid username|authentication" refused
if timeout 60 pilot-kafka topic list --config none.properties 2>refused; then fail "no secret is accepted"; fi
say "ok: no secret is refused: $(head -1 refused)"

secret=$(sed -n 's/^sasl.password=//p' "$PILOT_KAFKA_CONFIG")
check "the secret has 256 bits" test "${#secret}" -ge 64
for entry in /proc/[0-9]*/cmdline; do
  if grep -qaF "$secret" <(grep -zv grep "$entry" 2>/dev/null); then fail "the secret is in the command line of $entry"; fi
done
say "ok: it is in no command line"
check "it is in no log or event" test -z "$(grep -rl "$secret" "$PILOT_HOME"/pilots/demo/logs "$PILOT_HOME"/pilots/demo/events.jsonl || true)"
grep -rl "$secret" "$PILOT_HOME" "$TMPDIR" 2>/dev/null >files || true
while read -r file; do
  check "$(basename "$file") is the user's alone" test "$(stat -c %a "$file")" = 600
done <files

if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
  other() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
  if other ls "$PILOT_HOME/pilots/demo" >/dev/null 2>&1; then fail "another user can read the pilot's folder"; fi
  say "ok: another user can't read the folder"
  chmod 755 "$WORK"
  cp "$(command -v pilot)" "$WORK/pilot-copy" 2>/dev/null || true
  # Even one who copied the folder's layout with keys of his own is refused by the agents.
  mkdir "$WORK/forged" && chown 65534 "$WORK/forged"
  if PILOT_HOME=$WORK/forged other "$(command -v pilot)" status demo >/dev/null 2>&1; then fail "another user sees the pilot"; fi
  say "ok: another user's commands don't see it"
fi
check "it stops" pilot stop demo
check "nothing is left" nothing_left
