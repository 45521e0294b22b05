#!/usr/bin/env bash
# kill -9 of a node agent stops no service; it is started again and takes up its own by pid and start time.
. "$(dirname "$0")/lib.sh"

check "a pilot of two nodes starts" pilot start demo --nodes 2 --framework kafka
for node in node-2 node-1; do # node-1's agent also keeps the head
  agent=$(pid_of demo "$node")
  broker=$(pid_of demo "kafka/broker-${node#node-}")
  kill -9 "$agent"
  within 40 "$node has another agent" another_process demo "$node" "$agent"
  within 20 "the pilot is ready" is_ready demo
  check "its broker is the same process" test "$(pid_of demo "kafka/broker-${node#node-}")" = "$broker"
done

# What was adopted is still supervised: its end is seen, and it is started again.
broker=$(pid_of demo kafka/broker-2)
kill -9 "$broker"
within 60 "an adopted broker is started again" restarted demo kafka/broker-2 "$broker"
check "it stops" pilot stop demo
check "nothing is left" nothing_left
