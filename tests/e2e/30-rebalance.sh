#!/usr/bin/env bash
# Brokers are drained and filled while messages flow: killed midway, gone on with, stopped, with nothing lost
# and no throttle left.
. "$(dirname "$0")/lib.sh"

check "a pilot of four nodes starts" pilot start demo --nodes 4 --framework kafka
config=$PILOT_HOME/pilots/demo/client/client.librdkafka.properties
tool() { local verb=$1; shift; pilot-kafka "$verb" "$@" --config "$config"; }
# Of all topics, the partitions with a replica on a broker.
replicas_on() { tool topic list | json "sum($1 in p['replicas'] for t in d['topics'] for p in t['partitions'])"; }
last_event() { tail -n 1 "$1" | json "d['$2']"; }
# under_way: a large partition is not yet in sync where it goes
under_way() {
  [ "$(tool topic describe frames | json "any(set(p['replicas']) != set(p['in_sync']) for p in d['topic']['partitions'])")" = True ]
}

for topic in frames one two; do tool topic create "$topic" --partitions 6 --replicas 3 >/dev/null; done
# 50 KB each, 15 MB in all with three replicas of a hundred: enough for a slow move to be caught midway.
miniapp source light --pilot demo --phantom shepp-logan --size 256 --angles 48 --slices 160 --rate 10/s --count 400 \
  --progress none --json >source.json 2>source.err &
source=$!
within 30 "data flow" data_flow demo
miniapp process gridrec --pilot demo --output out --count 400 --progress none --json >process.json 2>process.err &
process=$!
enough() { [ "$(tool topic describe frames | json "sum(d['topic']['bytes_by_broker'].values())")" -gt 15000000 ]; }
within 60 "15 MB are there" enough

refuses 2 "has 3 replicas of partition" tool rebalance --drain 2,3,4
refuses 2 "broker 9 is to be kept and is not up" tool rebalance --keep 1,9

pilot-kafka rebalance --config "$config" --drain 4 --throttle 50kB/s --json >first.out 2>first.err &
first=$!
within 90 "the drain has begun" under_way
kill -9 "$first"
wait "$first" 2>/dev/null || true
check "a second run goes on" tool rebalance --drain 4 --throttle none --json >second.out 2>second.err
check "it took over what was under way" grep -q "are under way already" second.err
check "it removed the throttles of the first" test "$(last_event second.out throttles_removed)" -gt 0
check "broker 4 holds nothing" test "$(replicas_on 4)" = 0
tool topic create late --partitions 12 --replicas 3 >/dev/null
check "a new topic does not go there" test "$(replicas_on 4)" = 0

pilot-kafka rebalance --config "$config" --keep 1,2,3,4 --throttle 50kB/s --json >third.out 2>third.err &
third=$!
within 90 "the filling has begun" under_way
kill -TERM "$third"
code=0
wait "$third" || code=$?
check "SIGTERM ends it" test "$code" = 143
check "and it cleans up" grep -q "no throttle and no cordon is left" third.err
check "the next run fills broker 4" tool rebalance --json >fourth.out 2>fourth.err
check "broker 4 has its share" test "$(replicas_on 4)" -gt 8
check "another one finds nothing to do" tool rebalance --json >fifth.out 2>fifth.err
check "no move" test "$(last_event fifth.out moves)" = 0
check "no throttle" test "$(last_event fifth.out throttles_removed)" = 0

acknowledged() { wait "$source" || { cat source.err >&3; return 1; }; }
check "the source got every message acknowledged" acknowledged
check "400 of them" test "$(json "d['acked']" <source.json)" = 400
reconstructed() { wait "$process" || { cat process.err >&3; return 1; }; }
check "all 400 are reconstructed" reconstructed

broker=$(pid_of demo kafka/broker-2)
kill -9 "$broker"
last=$((SECONDS + 150))
drained() { # what it says is told when there is no time to try it again
  tool rebalance --drain 4 >sixth.out 2>sixth.err && return
  [ "$SECONDS" -lt "$last" ] || cat sixth.err >&3
  return 1
}
within 150 "broker 4 is drained again, while broker 2 starts again" drained
within 60 "broker 2 is back" restarted demo kafka/broker-2 "$broker"
refuses 1 "broker 4 is up and would register again" tool unregister --broker 4
check "the secret is in no output" test -z "$(grep -lF "$(sed -n 's/^sasl.password=//p' "$config")" ./*.out ./*.err)"
check "it stops" pilot stop demo
check "nothing is left" nothing_left
