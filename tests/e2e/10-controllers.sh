#!/usr/bin/env bash
# Three controllers: the quorum survives the loss of one.
. "$(dirname "$0")/lib.sh"

check "three controllers start" pilot start demo --nodes 3 --framework kafka --option kafka.controllers=3
check "there are three" test "$(status_of demo "sum(i.startswith('kafka/controller-') for i in d['clusters']['kafka']['services'])")" = 3
eval "$(pilot env demo)"
controller=$(pid_of demo kafka/controller-1)
kill -9 "$controller"
check "a topic can be made meanwhile" pilot-kafka topic create --config "$PILOT_KAFKA_CONFIG" --bootstrap "$KAFKA_BOOTSTRAP_SERVERS" --topic t --partitions 3
another() { [ "$(pid_of demo kafka/controller-1 2>/dev/null)" != "$controller" ] && service_is demo kafka/controller-1 ready; }
within 60 "the controller is started again" another
check "it stops" pilot stop demo
check "nothing is left" nothing_left
