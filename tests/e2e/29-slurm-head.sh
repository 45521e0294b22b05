#!/usr/bin/env bash
# The host of the head agent crashes, which is the job's first as well and one of three controllers': the next node
# takes its place, services and data go on, what was there is rebuilt on the other nodes, and nothing that was
# acknowledged is lost.
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
. "$source_folder/tests/e2e/lib.sh"
. "$source_folder/tests/e2e/slurm.sh"

start_cluster 4
check "a pilot starts" pilot start demo --resource slurm -N 4 -t 20m --framework kafka --option kafka.controllers=3 \
  --lost-after 30s
check "the first node keeps the head" test "$(status_of demo "d['head']['node']")" = node-1
check "there is nothing to recover" grep -q 'nothing to recover' <(pilot recover demo 2>&1)
begin_source 400

check "its host crashes" "$cluster" crash node01
check "a head is recovered" pilot recover demo --timeout 2m
check "on the next node, from the log" test "$(status_of demo "d['live'], d['head']['node'], d['head']['starts']")" = "(True, 'node-2', 2)"
lost() { [ "$(status_of demo "[n['state'] for n in d['nodes'] if n['id'] == 'node-1'][0]")" = lost ]; }
within 40 "the first node is shown as lost" lost
head=$(pid_of demo head)
on_node node02 kill -9 "$head"
within 30 "its keeper starts a killed head again" another_process demo head "$head"

rebuilt() { [ "$(holders)" = "2 3 4" ]; }
within 200 "what it held is rebuilt elsewhere" rebuilt
all_in_sync() { [ "$(frames_topic | json "all(len(p['in_sync']) == 3 for p in d['topic']['partitions'])")" = True ]; }
within 60 "three times, as before" all_in_sync
only_node() {
  [ "$(status_of demo "([n['id'] for n in d['nodes'] if n['state'] != 'up'], d['clusters'][0]['problem'])")" = \
    "(['node-1'], '')" ]
}
within 30 "nothing is missing but the node" only_node
check_source 400
check "the host comes back" "$cluster" boot node01
refuses 6 "not all of its nodes could be reached: node01:" pilot stop demo
check "nothing is left" nothing_on_hosts
