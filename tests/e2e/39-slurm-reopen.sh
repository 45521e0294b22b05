#!/usr/bin/env bash
# Data of a pilot with three controllers are opened again on other hosts, where all addresses and ports are others,
# after an end in order and after one without; the quorum still survives the loss of a controller.
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
. "$source_folder/tests/e2e/lib.sh"
. "$source_folder/tests/e2e/slurm.sh"

start_cluster 5
data=$user_home/kafka-data
rm -rf "$data"
hosts_of() { status_of demo "' '.join(n['host'] for n in d['nodes'])"; }
send() {
  as_user miniapp source light --pilot demo --phantom shepp-logan --size 64 --angles 48 --slices 8 --rate max --count "$1" \
    --progress none --json | json "d['acked']"
}
start() { # on the hosts of the list $1
  pilot start demo --resource slurm -N 3 -t 20m --batch "extra=--nodelist=$1" "${@:2}"
}
read_all() { as_user miniapp process gridrec --pilot demo --output "$1" --group "$1" --count "$2" --progress none --json | json "d['messages']"; }

check "a pilot with three controllers starts" start node01,node02,node03 --framework kafka --option kafka.controllers=3 \
  --option "kafka.data=$data"
check "on the first hosts" test "$(hosts_of)" = "node01 node02 node03"
check "a topic is made" pilot topic create demo frames --partitions 4 --replicas 3
check "40 messages are acknowledged" test "$(send 40)" = 40
check "the pilot stops" pilot stop demo

check "the next pilot opens its data" start node03,node04,node05 --from demo
check "on other hosts" test "$(hosts_of)" = "node03 node04 node05"
check "with the same topic" test "$(pilot topic describe demo frames --json | json "len(d['topic']['partitions'])")" = 4
check "all 40 messages are there" test "$(read_all one 40)" = 40
leader=$(pid_of demo kafka/controller-1)
on_node node03 kill -9 "$leader"
check "the other controllers make a topic" pilot topic create demo meanwhile --partitions 1 --replicas 3
within 60 "the controller is started again" restarted demo kafka/controller-1 "$leader"
check "10 more messages are acknowledged" test "$(send 10)" = 10

say "--- an end without order"
for host in node05 node04 node03; do check "$host crashes" "$cluster" crash "$host"; done
on_node head scancel "$(job_of a0)"
check "the pilot is cleaned up after" pilot stop demo
for host in node05 node04 node03; do check "$host boots" "$cluster" boot "$host"; done
check "the third one opens them" start node01,node02,node05 --from demo
check "all 50 messages are there" test "$(read_all two 50)" = 50
check "the pilot stops" pilot stop demo
check "nothing is left" nothing_on_hosts
rm -rf "$data" "$user_home/one" "$user_home/two"
