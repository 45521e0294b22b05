#!/usr/bin/env bash
# Where Slurm tells a node's switch, replicas of a partition are kept on different switches, also when data move.
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
export VC_SWITCHES=2
. "$source_folder/tests/e2e/lib.sh"
. "$source_folder/tests/e2e/slurm.sh"

start_cluster 6
check "a pilot starts" pilot start demo --resource slurm -N 4 -t 20m --framework kafka --option kafka.heap=256M
racks() { status_of demo "' '.join(n['rack'] for n in sorted(d['nodes'], key=lambda n: n['host']))"; }
check "its nodes know their switches" test "$(racks)" = "top.leaf1 top.leaf1 top.leaf1 top.leaf2"
# All partitions with both replicas on nodes of one switch.
together() {
  pilot status demo --json >status.json
  pilot topic describe demo frames --json >topic.json
  python3 -c '
import json
rack = {int(n["id"][5:]): n["rack"] for n in json.load(open("status.json"))["nodes"]}
print([p["id"] for p in json.load(open("topic.json"))["topic"]["partitions"] if len({rack[r] for r in p["replicas"]}) < 2])'
}
check "a topic is made" pilot topic create demo frames --partitions 8 --replicas 2
check "with replicas on two switches" test "$(together)" = "[]"
check "a node of the second switch comes" pilot extend demo -N 1
check "of which its switch is known" test "$(racks)" = "top.leaf1 top.leaf1 top.leaf1 top.leaf2 top.leaf2"
holds() { pilot topic describe demo frames --json | json "sum(5 in p['replicas'] for p in d['topic']['partitions'])"; }
check "it has its share" test "$(holds)" -gt 1
check "and replicas are on two switches still" test "$(together)" = "[]"
check "the pilot stops" pilot stop demo
check "nothing is left" nothing_on_hosts
