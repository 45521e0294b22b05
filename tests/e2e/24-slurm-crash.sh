#!/usr/bin/env bash
# Nodes of a real Slurm crash: in peace, while a pilot grows onto them, and while another is drained.  A source and
# a processor run throughout; every acknowledged message is there once.
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
. "$source_folder/tests/e2e/lib.sh"
. "$source_folder/tests/e2e/slurm.sh"

start_cluster 6
count=${CRASH_MESSAGES:-1000}
node_state() { status_of demo "[n['state'] for n in d['nodes'] if n['id'] == '$1'][0]" 2>/dev/null; }
node_is() { [ "$(node_state "$1")" = "$2" ]; }
host_of() { status_of demo "[n['host'] for n in d['nodes'] if n['id'] == '$1'][0]"; }
reason_has() { grep -qF "$1" <<<"$(pilot status demo)"; }
moves() { # the status that says so is kept
  pilot status demo --json >moving.json && [ "$(json "d['clusters'][0]['moving']" <moving.json)" = True ]
}
# copies_to BROKER: what it shall have of the large topic is not all there yet
copies_to() {
  [ "$(as_user pilot-kafka topic describe bulk --config "$client" |
    json "any($1 in set(p['replicas']) - set(p['in_sync']) for p in d['topic']['partitions'])")" = True ]
}
is_whole() {
  is_ready demo && [ "$(status_of demo "d['clusters'][0]['problem'] + str(d['clusters'][0]['moving'] or d['clusters'][0]['changing'])")" = False ]
}
crash() {
  check "$1 ($2) crashes" "$cluster" crash "$2"
}
newest_broker() { status_of demo "[s['id'] for s in d['services'] if s['role'] == 'broker' and s['state'] == 'ready'][-1].split('-')[-1]"; }

check "a pilot starts" pilot start demo --resource slurm -N 4 -t 30m --framework kafka --lost-after 8s \
  --option kafka.heap=256M
check "with a topic" pilot topic create demo frames --partitions 6 --replicas 3
check "and another one" pilot topic create demo bulk --partitions 6 --replicas 3
as_user miniapp source light --pilot demo --phantom shepp-logan --size 64 --angles 48 --slices 8 --rate 8/s --count "$count" \
  --progress none --json >source.json 2>source.err &
source=$!
as_user miniapp process gridrec --pilot demo --output out --count "$count" --progress none --json >process.json 2>process.err &
process=$!
# 50 KB each, 4 MB in a partition: enough for a slow move to be caught midway.
as_user miniapp source light --pilot demo --topic bulk --phantom shepp-logan --size 256 --angles 48 --slices 160 --rate max \
  --count 500 --progress none >/dev/null 2>bulk.err || fail "no bulk: $(cat bulk.err)"

say "--- in peace"
crash node-3 "$(host_of node-3)"
within 30 "its loss is noticed" node_is node-3 lost
check "its broker is not ready any more" service_is demo kafka/broker-3 lost
within 25 "replicas that lack are told of" reason_has "lack a replica in sync (broker 3 is down)"
within 60 "it is done without" node_is node-3 released
within 30 "its replicas are rebuilt elsewhere" is_whole
check "on the others" test "$(holders)" = "1 2 4"
unregistered() { grep -q "Replayed UnregisterBrokerRecord(brokerId=$1," "$user_home/.local/state/pilot/pilots/demo/logs/kafka/controller-1.log"; }
check "it is no longer registered" unregistered 3
check "its host boots again" "$cluster" boot node03
check "with nothing of the pilot" test -z "$(on_node node03 sh -c "pgrep -a -u $VC_USER; ls -d /tmp/pilot-$VC_USER-* 2>/dev/null")"

say "--- while the pilot grows onto it"
pilot extend demo -N 1 --throttle 1MB/s >extend.out 2>&1 &
extend=$!
within 90 "data are to move" moves
arrived=$(json "d['nodes'][-1]['id']" <moving.json)
host=$(json "d['nodes'][-1]['host']" <moving.json)
within 30 "they move to $arrived" copies_to "${arrived##*-}"
crash "$arrived" "$host"
within 30 "its loss is noticed" node_is "$arrived" lost
code=0
wait "$extend" || code=$?
check "the extension is partly done: $(tail -2 extend.out | tr '\n' ' ')" test "$code" = 6
check "for that reason" grep -q "$arrived came, but is not kept: lost for 8s" extend.out
within 60 "it is done without" node_is "$arrived" released
within 60 "all is as before" is_whole
check "where it was" test "$(holders)" = "1 2 4"

say "--- while another one is drained"
check "a node comes" pilot extend demo -N 1
fifth=$(newest_broker)
within 30 "all is well" is_whole
check "it holds partitions" grep -qw "$fifth" <(holders)
host=$(host_of node-4)
pilot shrink demo --node "node-$fifth" --throttle 500kB/s >shrink.out 2>&1 &
shrink=$!
within 60 "data move, to node-4 too" copies_to 4
crash node-4 "$host"
within 30 "its loss is noticed" node_is node-4 lost
code=0
wait "$shrink" || code=$?
check "the drain is given up: $(tail -2 shrink.out | tr '\n' ' ')" test "$code" = 6
check "for that reason" grep -q "node-$fifth stays: kafka: node-4: lost for 8s" shrink.out
check "the node that was drained is in use again" test "$(status_of demo "[(n['state'], n['draining']) for n in d['nodes'] if n['id'] == 'node-$fifth'][0]")" = "('up', False)"
within 60 "the lost one is done without" node_is node-4 released
within 60 "all is well" is_whole
check "on those that are left" test "$(holders)" = "1 2 $fifth"

check_acknowledged "$count"
processed() { wait "$process" || { cat process.err >&3; return 1; }; }
check "all were reconstructed, each once" processed
say "--- just before the pilot stops"
last=$(status_of demo "[n['id'] for n in d['nodes'] if n['state'] == 'up'][-1]")
host=$(host_of "$last")
crash "$last" "$host"
code=0
pilot stop demo >stop.out 2>&1 || code=$?
check "what can't be cleaned is named: $(tail -1 stop.out)" grep -q "not all of its nodes could be reached: $host:/[^ ]* may be there still" stop.out
check "with the code for that" test "$code" = 6
for number in $(seq "$cluster_nodes"); do "$cluster" boot "$(printf 'node%02d' "$number")" >/dev/null 2>&1 || true; done
check "nothing is left" nothing_on_hosts
