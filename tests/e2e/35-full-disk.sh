#!/usr/bin/env bash
# The disk of one broker is full: the others go on, no acknowledged message is lost, the status says which and why; with
# room again it catches up.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || skip "a small disk needs root"

data=$WORK/persistent
small=
mkdir "$data"
end_disk() {
  local code=$?
  trap - EXIT
  for name in $(pilot list --json 2>/dev/null | json "' '.join(p['name'] for p in d['pilots'])"); do
    [ "$code" -eq 0 ] || pilot status "$name" >&3 2>&1 || true
    pilot stop "$name" >/dev/null 2>&1 || true
  done
  [ -z "$small" ] || umount -l "$small" || code=1
  set +e
  (exit "$code")
  at_exit
}
trap end_disk EXIT

check "a pilot makes its folders" pilot start demo --nodes 3 --framework kafka --option "kafka.data=$data" --option kafka.heap=256M
check "and a topic" pilot topic create demo frames --partitions 3 --replicas 3
check "and ends" pilot stop demo
small=$(echo "$data"/kafka-*/broker-3)
mv "$small" "$small.kept"
mkdir "$small"
mount -t tmpfs -o size=20m tmpfs "$small" 2>/dev/null || { small= && skip "no file system can be mounted here"; }
cp -a "$small.kept/." "$small"
check "it is opened again, with a small disk for one broker" pilot start --from demo

# 164 KB each: 33 MB for each broker.
miniapp source light --pilot demo --phantom shepp-logan --size 512 --angles 80 --slices 64 --rate 40/s --count 200 --progress none --json \
  >source.json 2>source.err &
source=$!
full() { grep -qE "disk|waiting|failed|No space" <(status_of demo "[s['reason'] + s['state'] for s in d['services'] if s['id'] == 'kafka/broker-3'][0]"); }
within 120 "the full disk ends its broker" full
says_why() { grep -qi "no space left on device" "$PILOT_HOME/pilots/demo/logs/kafka/broker-3.log"; }
check "whose log says why" says_why
degraded() { [ "$(status_of demo "d['state']")" = degraded ]; }
within 20 "the pilot is degraded" degraded
say "status: $(pilot status demo 2>&1 | grep -E 'reason|broker-3' | tr -s ' ' | tr '\n' '|')"
acknowledged() { wait "$source" || { cat source.err >&3; return 1; }; }
check "every message is acknowledged all the same" acknowledged
check "200 of them" test "$(json "d['acked']" <source.json)" = 200

mount -o remount,size=400m "$small"
restarted_or_given_up() { service_is demo kafka/broker-3 ready || service_is demo kafka/broker-3 failed; }
within 90 "with room again it comes back, if it was not given up before" restarted_or_given_up
if service_is demo kafka/broker-3 ready; then
  well() { is_ready demo && [ "$(status_of demo "d['clusters'][0]['problem']")" = "" ]; }
  within 60 "and catches up" well
fi
check "all 200 are there" test "$(miniapp process gridrec --pilot demo --output out --count 200 --progress none --json | json "d['messages']")" = 200
check "the pilot stops" pilot stop demo
check "nothing is left" nothing_left
