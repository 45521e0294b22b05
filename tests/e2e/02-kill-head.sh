#!/usr/bin/env bash
# kill -9 of the head agent stops no service; it is started again and takes them up.
. "$(dirname "$0")/lib.sh"

check "a pilot of two nodes starts" pilot start demo --nodes 2 --framework kafka
broker=$(pid_of demo kafka/broker-1)
head=$(pid_of demo head)
kill -9 "$head"
within 20 "another head agent answers" another_process demo head "$head"
within 20 "the pilot is ready" is_ready demo
check "the broker is the same process" test "$(pid_of demo kafka/broker-1)" = "$broker"
check "events tell of it" grep -q "head agent started again" <(pilot events demo)
check "it stops" pilot stop demo
check "nothing is left" nothing_left
