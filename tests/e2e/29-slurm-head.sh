#!/usr/bin/env bash
# The host of the head agent crashes, which is the job's first as well: the next node takes its place, services
# and data go on, and nothing that was acknowledged is lost.
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
. "$source_folder/tests/e2e/lib.sh"
. "$source_folder/tests/e2e/slurm.sh"

start_cluster 3
check "a pilot starts" pilot start demo --resource slurm -N 3 -t 20m --framework kafka --option kafka.controllers=3
check "the first node keeps the head" test "$(status_of demo "d['head']['node']")" = node-1
check "there is nothing to recover" grep -q 'nothing to recover' <(pilot recover demo 2>&1)
begin_source 400

check "its host crashes" "$cluster" crash node01
check "a head is recovered" pilot recover demo --timeout 2m
check "on the next node, from the log" test "$(status_of demo "d['live'], d['head']['node'], d['head']['starts']")" = "(True, 'node-2', 2)"
lost() { [ "$(status_of demo "[n['state'] for n in d['nodes'] if n['id'] == 'node-1'][0]")" = lost ]; }
within 20 "the first node is shown as lost" lost
head=$(pid_of demo head)
on_node node02 kill -9 "$head"
within 30 "its keeper starts a killed head again" another_process demo head "$head"

check_source 400
check "the host comes back" "$cluster" boot node01
refuses 6 "not all of its nodes could be reached: node01:" pilot stop demo
check "nothing is left" nothing_on_hosts
