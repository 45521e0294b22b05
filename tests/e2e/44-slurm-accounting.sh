#!/usr/bin/env bash
# With slurmdbd a job is resized as often as one likes: the base grows in place, gives back, grows and gives back
# again, while data flow.  (Without it, test 37: growing works each time, giving back only first of all.)
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
. "$source_folder/tests/e2e/lib.sh"
. "$source_folder/tests/e2e/slurm.sh"
for tool in slurmdbd mariadbd; do command -v "$tool" >/dev/null || skip "$tool is not installed"; done
export VC_ACCT=1

start_cluster 4
nodes_of_job() { as_user squeue --noheader --jobs="$1" -o '%T %N'; }
up() { status_of demo "' '.join(n['id'] for n in d['nodes'] if n['state'] == 'up' and n['allocation'] != 'a0')"; }
returned() { [ "$(nodes_of_job "$base")" = "RUNNING node[01-$1]" ]; }

check "a pilot starts" pilot start demo --resource slurm -N 2 -t 20m --framework kafka
begin_source 600
base=$(job_of a0)
for round in 1 2; do
  say "--- round $round"
  check "its job grows" pilot extend demo --in-place -N 1
  check "by a node" test "$(nodes_of_job "$base")" = "RUNNING node[01-03]"
  check "which holds data" grep -qw "$(up | sed 's/.*-//')" <(holders)
  check "it gives that back" pilot shrink demo --node "$(up)"
  within 20 "the job is as it was" returned 02
  check "so are the data" test "$(holders)" = "1 2"
done
say "--- several at once, one after the other"
check "its job grows by two" pilot extend demo --in-place -N 2
for node in $(up); do check "$node goes" pilot shrink demo --node "$node"; done
within 20 "the job is as it was" returned 02
check "the pilot is ready" is_ready demo
check_source 600
check "the pilot stops" pilot stop demo
check "nothing is left" nothing_on_hosts
