#!/usr/bin/env bash
# A broker that dies is started again with its data, at most so often, visibly; messages are not lost.
. "$(dirname "$0")/lib.sh"

check "a pilot of three nodes starts" pilot start demo --nodes 3 --framework kafka
miniapp source light --pilot demo --phantom shepp-logan --size 64 --angles 48 --slices 8 --rate 20/s --count 300 \
  --progress none --json >source.json 2>source.err &
source=$!
within 30 "data flow" data_flow demo
broker=$(pid_of demo kafka/broker-2)
kill -9 "$broker"
within 60 "the broker is started again" restarted demo kafka/broker-2 "$broker"
check "status counts the restart" test "$(status_of demo "[s['restarts'] for s in d['services'] if s['id'] == 'kafka/broker-2'][0]")" = 1
check "events tell why" grep -q "killed by signal 9" <(pilot events demo)
acknowledged() { wait "$source" || { cat source.err >&3; return 1; }; }
check "the source got every message acknowledged" acknowledged
check "300 of them" test "$(json "d['acked']" <source.json)" = 300
check "all are read" miniapp process gridrec --pilot demo --output out --until-idle 20s --progress none \
  --json >process.json
check "each of the 300 is there once" test "$(json "(d['messages'], d['stored'], d['duplicates'])" <process.json)" = "(300, 300, 0)"
check "it stops" pilot stop demo
check "nothing is left" nothing_left
