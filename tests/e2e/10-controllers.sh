#!/usr/bin/env bash
# Three controllers: the quorum survives the loss of one, and its data are opened again at other addresses.
. "$(dirname "$0")/lib.sh"

check "three controllers start" pilot start demo --nodes 3 --framework kafka --option kafka.controllers=3 \
  --option "kafka.data=$WORK/persistent"
check "there are three" test "$(status_of demo "sum(s['role'] == 'controller' for s in d['services'])")" = 3
eval "$(pilot env demo)"
controller=$(pid_of demo kafka/controller-1)
kill -9 "$controller"
check "a topic can be made meanwhile" pilot-kafka topic create t --config "$PILOT_KAFKA_CONFIG" --partitions 3
within 60 "the controller is started again" restarted demo kafka/controller-1 "$controller"
check "it stops" pilot stop demo
check "another one opens its data" pilot start again --from demo
check "with its topic" test "$(pilot topic describe again t --json | json "len(d['topic']['partitions'])")" = 3
check "it stops" pilot stop again
check "nothing is left" nothing_left
