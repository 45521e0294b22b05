#!/usr/bin/env bash
# Data on storage that outlives the pilot are opened again by the next one: every message, after a grown cluster, and
# after an end without order.
. "$(dirname "$0")/lib.sh"

data=$WORK/persistent
mkdir "$data"
send() { miniapp source light --pilot "$1" --phantom shepp-logan --size 64 --angles 24 --slices 8 --rate max --count "$2" --progress none --json | json "d['acked']"; }
read_all() { miniapp process gridrec --pilot "$1" --output "$2" --group "$2" --count "$3" --progress none --json | json "d['messages']"; }

refuses 2 "is no path from '/'" pilot start demo --framework kafka --option kafka.data=relative
check "a pilot keeps its data" pilot start demo --nodes 2 --framework kafka --option "kafka.data=$data"
check "which its status says" test "$(status_of demo "d['clusters'][0]['keeps_data']")" = True
check "a topic is made" pilot topic create demo frames --partitions 4 --replicas 2
check "it grows" pilot extend demo -N 1
check "40 messages are acknowledged" test "$(send demo 40)" = 40
refuses 2 "was not stopped" pilot start --from demo
check "the pilot stops" pilot stop demo
check "nothing but the data is left" nothing_left
check "they were closed cleanly" test "$(find "$data" -name .kafka_cleanshutdown | wc -l)" = 3

refuses 2 "the data to be opened again lie on 3 brokers, and the base has 2" pilot start --from demo -N 2
check "the next pilot opens them" pilot start --from demo
check "on three nodes" test "$(status_of demo "len(d['nodes'])")" = 3
check "with the same topic" test "$(pilot topic describe demo frames --json | json "len(d['topic']['partitions'])")" = 4
check "all 40 messages are there" test "$(read_all demo one 40)" = 40
check "and more can be sent" test "$(send demo 10)" = 10
check "a node comes, with an id that was never used" pilot extend demo -N 1
check "beyond all before" test "$(status_of demo "sorted(s['id'] for s in d['services'] if s['role'] == 'broker')[-1]")" = kafka/broker-7

say "--- an end without order"
for who in kafka/broker-1 kafka/broker-2 kafka/broker-3 kafka/broker-7 kafka/controller-1; do pids="${pids:-} $(pid_of demo "$who")"; done
agents=$(status_of demo "' '.join(str(n['agent_pid']) for n in d['nodes'])")
# shellcheck disable=SC2086  # several words
kill -9 "$(pid_of demo head)" $agents $pids
check "the pilot is cleaned up after" pilot stop demo
check "the third one opens them" pilot start third --from demo
check "all 50 messages are there" test "$(read_all third two 50)" = 50
check "the pilot stops" pilot stop third
check "nothing but the data is left" nothing_left
