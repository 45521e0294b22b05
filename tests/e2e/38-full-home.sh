#!/usr/bin/env bash
# The file system with the pilot's folder is full while the pilot runs: services and data go on, the status says
# why nothing is decided, and with room again all is as before.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || skip "a small file system needs root"

mkdir -p "$PILOT_HOME"
mount -t tmpfs -o size=30m tmpfs "$PILOT_HOME" 2>/dev/null || skip "no file system can be mounted here"
end_home() {
  local code=$?
  trap - EXIT
  rm -f "$PILOT_HOME/fill"
  pilot stop demo >/dev/null 2>&1 || true
  umount -l "$PILOT_HOME" || code=1
  set +e
  (exit "$code")
  at_exit
}
trap end_home EXIT

check "a pilot starts" pilot start demo --nodes 2 --framework kafka
eval "$(pilot env demo)" # what a client needs, while it can still be asked
cp "$PILOT_KAFKA_CONFIG" client.properties
dd if=/dev/zero of="$PILOT_HOME/fill" bs=4k >/dev/null 2>&1 || true
says_why() { grep -q "^not live: .*No space left on device" <(pilot status demo); }
broker=
no_room() { # the log's last block still takes some events: make more
  [ -n "$broker" ] && says_why && return
  if service_is demo kafka/broker-2 ready; then
    broker=$(pid_of demo kafka/broker-2)
    kill -9 "$broker" 2>/dev/null || true
  fi
  return 1
}
within 90 "the status says that there is no room" no_room
send() { miniapp source light --client-config client.properties --phantom shepp-logan --size 64 --angles 24 --slices 8 --rate max --count "$1" --progress none; }
check "data flow all the same" send 20

rm "$PILOT_HOME/fill"
within 60 "with room again the head is back, and the broker" restarted demo kafka/broker-2 "$broker"
within 30 "all is well" is_ready demo
check "and more data flow" send 20
read_all() {
  miniapp process gridrec --pilot demo --output "$WORK/out" --until-idle 20s --progress none --json |
    json "d['messages']"
}
check "all are there" test "$(read_all)" = 40
check "it stops" pilot stop demo
check "nothing is left" nothing_left
