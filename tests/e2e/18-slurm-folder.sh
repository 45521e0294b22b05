#!/usr/bin/env bash
# Nodes that listen on a network which the login node is not on: commands go through the pilot's folder.
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
. "$source_folder/tests/e2e/lib.sh"
. "$source_folder/tests/e2e/slurm.sh"

start_cluster 3
for number in 1 2 3; do on_node "node0$number" ip addr add "10.88.0.1$number/24" dev eth0; done
refused_by_network() { ! on_node head ip route get 10.88.0.11 >/dev/null 2>&1; }
check "the login node does not get there" refused_by_network

export PILOT_BATCH__NETWORK=10.88.0.0/24
pilot() { as_user env PILOT_BATCH__NETWORK="$PILOT_BATCH__NETWORK" pilot "$@"; }
started() { pilot start demo --resource slurm -N 2 -t 20m --framework kafka 2>start.err; }
check "a pilot starts there" started
check "and says how it is reached" grep -q "commands go through the pilot's folder" start.err
check "and listens there" grep -q '^tcp://10.88.0.11:' <(status_of demo "d['head']['endpoint']")
check "its status is live" test "$(status_of demo "d['live']")" = True
check "it grows" pilot extend demo -N 1 -t 15m
check "to three brokers" test "$(status_of demo "sum(s['role'] == 'broker' and s['state'] == 'ready' for s in d['services'])")" = 3
refuses 2 "node-1" pilot shrink demo --node node-1
check "it shrinks" pilot shrink demo -N 1
check "no message is left in the folder" test -z "$(ls "$user_home/.local/state/pilot/pilots/demo/mail")"
check "it stops" pilot stop demo
check "nothing is left" nothing_on_hosts
