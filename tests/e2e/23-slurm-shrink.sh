#!/usr/bin/env bash
# A pilot on a real Slurm gives back parts of its jobs while data flow: a node of the base, a node of an
# extension; nothing is lost, the jobs run on with what is left, and what Slurm can't do is refused before.
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
. "$source_folder/tests/e2e/lib.sh"
. "$source_folder/tests/e2e/slurm.sh"

start_cluster 5
nodes_of_job() { as_user squeue --noheader --states=all --jobs="$1" -o '%T %N'; }
scratch_is_clean() { [ -z "$(on_node "$1" find /tmp /dev/shm -maxdepth 1 -name "pilot-$VC_USER-*")" ]; }
nobody_on() { [ -z "$(on_node "$1" pgrep -a -u "$VC_USER")" ]; }

check "a pilot starts" pilot start demo --resource slurm -N 3 -t 20m --framework kafka
begin_source 450
check "two more nodes come" pilot extend demo -N 2 -t 15m
base=$(job_of a0) extension=$(job_of a1)

refuses 2 "the head agent runs on node-1" pilot shrink demo --node node-1
refuses 2 "Slurm can't take node04 from job $extension" pilot shrink demo --node node-4
refuses 3 "has no node 'node-9'" pilot shrink demo --node node-9

check "a node of the base is given back" pilot shrink demo --node node-3
check "its job runs on without it" test "$(nodes_of_job "$base")" = "RUNNING node[01-02]"
within 20 "with nothing left there" scratch_is_clean node03
within 10 "and nobody" nobody_on node03
check "a node of the extension is given back, of pilot's choice" pilot shrink demo -N 1
check "its job runs on as well" test "$(nodes_of_job "$extension")" = "RUNNING node04"
within 20 "with nothing left there" scratch_is_clean node05
check "data are on the others" test "$(holders)" = "1 2 4"
refuses 2 "resizes a job only once" pilot shrink demo --node node-2
refuses 2 "has 3 replicas of partition" pilot shrink demo --allocation a1
check "before anything was cordoned" test -z "$(pilot events demo --json | grep node_cordoned | grep node-4)"
check "the pilot is ready" is_ready demo

check_source 450
check "the pilot stops" pilot stop demo
check "nothing is left" nothing_on_hosts
