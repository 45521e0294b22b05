#!/usr/bin/env bash
# The time of an extension comes to its end while data flow: it is drained and given back by itself before, and
# nothing is lost.
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
. "$source_folder/tests/e2e/lib.sh"
. "$source_folder/tests/e2e/slurm.sh"

start_cluster 3
check "a pilot starts" pilot start demo --resource slurm -N 2 -t 20m --framework kafka
begin_source 1500
check "one more node comes for three minutes" pilot extend demo -N 1 -t 3m
check "and holds data" grep -qw 3 <<<"$(holders)"
extension=$(job_of a1)
knows_what_it_holds() { [ "$(status_of demo "d['allocations'][1]['held_bytes']")" -gt 0 ]; }
within 20 "what it holds is known" knows_what_it_holds
# As what it holds takes to move, up to half of its time.
check "and when it leaves: a minute before its end, or half a minute more" test \
  "$(status_of demo "[60 <= round((t(a['ends']) - t(a['leaves'])).total_seconds()) <= 90
    for t in [__import__('datetime').datetime.fromisoformat] for a in d['allocations'][1:]][0]")" = True
given_back() { [ "$(status_of demo "d['allocations'][1]['state']")" = ended ]; }
within 170 "it is given back by itself" given_back
check "the reason is told" grep -q 'the time of a1 is over in' "$user_home/.local/state/pilot/pilots/demo/logs/head.log"
check "its job did not run out of time" grep -qE 'COMPLETED|CANCELLED' <<<"$(as_user squeue --noheader --states=all --jobs="$extension" -o %T)"
check "data are on the others" test "$(holders)" = "1 2"
check "the pilot is ready" is_ready demo
check_source 1500
check "the pilot stops" pilot stop demo
check "nothing is left" nothing_on_hosts
