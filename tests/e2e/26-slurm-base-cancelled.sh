#!/usr/bin/env bash
# Jobs of a pilot are cancelled by hand while data flow.  Without an extension's node the pilot is whole again by
# itself; that the base's is over is noticed and said, and stopping gives back what is left of it, an extension's job too.
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
. "$source_folder/tests/e2e/lib.sh"
. "$source_folder/tests/e2e/slurm.sh"

start_cluster 3
check "a pilot starts" pilot start demo --resource slurm -N 2 -t 20m --framework kafka
as_user miniapp source light --pilot demo --phantom shepp-logan --size 64 --angles 48 --slices 8 --rate 10/s --count 100000 \
  --progress none >source.log 2>&1 &
source=$!
check "one more node comes" pilot extend demo -N 1 -t 15m
check "its broker holds data" grep -qw 3 <(holders)
on_node head scancel "$(job_of a1)"
is_whole() { is_ready demo && [ "$(holders)" = "1 2" ]; }
within 90 "its job is cancelled: what it held is rebuilt elsewhere" is_whole
forgotten() { grep -q 'node-3 released' <(pilot events demo); }
within 30 "it is forgotten" forgotten
check "another one comes" pilot extend demo -N 1 -t 15m
base=$(job_of a0) extension=$(job_of a2)
on_node head scancel "$base"
says_over() { grep -qE "is over: CANCELLED|CANCELLED.* nothing of it runs any more" <<<"$(pilot status demo 2>&1)"; }
within 60 "that the base's job was cancelled is said" says_over
refuses 5 "CANCELLED" pilot extend demo -N 1
no_java() { [ -z "$(on_node node01 pgrep -u "$VC_USER" java)" ]; }
within 30 "no process of the base is left" no_java
check "the pilot can be stopped" pilot stop demo
check "with the extension's job" grep -qE 'COMPLETED|CANCELLED|FAILED' <<<"$(as_user squeue --noheader --states=all --jobs="$extension" -o %T)"
kill "$source" 2>/dev/null || true
wait "$source" || true
check "nothing is left" nothing_on_hosts
