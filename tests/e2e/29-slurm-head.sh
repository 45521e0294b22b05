#!/usr/bin/env bash
# The host of the head agent crashes, which is the job's first as well and that of the controller that was there first:
# another node takes the head's place, the controllers that joined elect another leader, services and data go on, what
# was there is rebuilt on the other nodes, and nothing that was acknowledged is lost.
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
. "$source_folder/tests/e2e/lib.sh"
. "$source_folder/tests/e2e/slurm.sh"

start_cluster 4
check "a pilot starts" pilot start demo --resource slurm -N 4 -t 20m --framework kafka --lost-after 30s
for controller in 2 3; do within 60 "controller $controller joins" service_is demo "kafka/controller-$controller" ready; done
check "the first node keeps the head" test "$(status_of demo "d['head']['node']")" = node-1
check "there is nothing to recover" grep -q 'nothing to recover' <(pilot recover demo 2>&1)
begin_source 1200

check "its host crashes" "$cluster" crash node01
check "a head is recovered" pilot recover demo --timeout 2m
head_node=$(status_of demo "d['head']['node']")
check "on another node, from the log" test "$(status_of demo "d['live'], d['head']['node'] != 'node-1', d['head']['starts']")" = "(True, True, 2)"
lost() { [ "$(status_of demo "[n['state'] for n in d['nodes'] if n['id'] == 'node-1'][0]")" = lost ]; }
within 40 "the first node is shown as lost" lost
head=$(pid_of demo head)
on_node "node0${head_node#node-}" kill -9 "$head"
within 30 "its keeper starts a killed head again" another_process demo head "$head"

rebuilt() { [ "$(holders)" = "2 3 4" ]; }
within 200 "what it held is rebuilt elsewhere" rebuilt
all_in_sync() { [ "$(frames_topic | json "all(len(p['in_sync']) == 3 for p in d['topic']['partitions'])")" = True ]; }
within 60 "three times, as before" all_in_sync
within 60 "a controller on the fourth node takes the place of the first" service_is demo kafka/controller-4 ready
within 30 "nothing is missing any more" is_ready demo
voters() { grep -o 'Latest set of voters is .*' "$user_home/.local/state/pilot/pilots/demo/logs/kafka/controller-4.log" | tail -n 1 | grep -o 'id=1[0-9]*' | sort -u | xargs; }
check "three vote" test "$(voters)" = "id=1002 id=1003 id=1004"

check "another host crashes, with one of them" "$cluster" crash "node0${head_node#node-}"
check "a head is recovered again" pilot recover demo --timeout 2m
check_source 1200
check "the hosts come back" "$cluster" boot node01
check "both of them" "$cluster" boot "node0${head_node#node-}"
refuses 6 "not all of its nodes could be reached: " pilot stop demo
check "nothing is left" nothing_on_hosts
