#!/usr/bin/env bash
# A pilot on a real Slurm grows by another job and gives its node back while data flow; nothing is lost.
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
. "$source_folder/tests/e2e/lib.sh"
. "$source_folder/tests/e2e/slurm.sh"

start_cluster 3
state_of_jobs() { as_user squeue --noheader --states=all --jobs="$1" -o %T; }

check "a pilot starts" pilot start demo --resource slurm -N 2 -t 20m --framework kafka
begin_source 300

refuses 2 "would never run" pilot extend demo -N 9
check "what was refused left no job" test "$(jobs_of_user | wc -l)" = 1
check "one more node comes" pilot extend demo -N 1 -t 15m
extension=$(status_of demo "d['allocations'][-1]['id']")
check "of a job of its own" test "$(job_of "$extension")" != "$(job_of a0)"
check "at an address of its own" test "$(status_of demo "' '.join(sorted(n['address'] for n in d['nodes']))")" = "10.77.0.11 10.77.0.12 10.77.0.13"
broker=$(status_of demo "[s['id'] for s in d['services'] if s['role'] == 'broker'][-1]")
check "which holds partitions" grep -qw "${broker##*-}" <(holders)

check "and is given back" pilot shrink demo -N 1
check "with its job" grep -qE 'COMPLETED|CANCELLED' <(state_of_jobs "$(job_of "$extension")")
check "partitions are where they were" test "$(holders)" = "1 2"
check_source 300
check "the pilot stops" pilot stop demo
check "nothing is left" nothing_on_hosts
