#!/usr/bin/env bash
# A pilot on a real Slurm grows by another job and gives its node back while data flow; nothing is lost.
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
. "$source_folder/tests/e2e/lib.sh"
. "$source_folder/tests/e2e/slurm.sh"

start_cluster 3
client='.local/state/pilot/pilots/demo/client/client.librdkafka.properties'
state_of_jobs() { as_user squeue --noheader --states=all --jobs="$1" -o %T; }
job_of() { status_of demo "[a['job'] for a in d['allocations'] if a['id'] == '$1'][0]"; }
holders() {
  as_user pilot-kafka topic describe frames --config "$client" |
    json "' '.join(sorted({str(r) for p in d['topic']['partitions'] for r in p['replicas']}))"
}

check "a pilot starts" pilot start demo --resource slurm -N 2 -t 20m --framework kafka
as_user miniapp source light --pilot demo --phantom shepp-logan --size 64 --angles 48 --slices 8 --rate 10/s --count 300 \
  --progress none --json >source.json 2>source.err &
source=$!
there() { as_user pilot-kafka topic describe frames --config "$client" >/dev/null 2>&1; }
within 60 "data flow" there

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
acknowledged() { wait "$source" || { cat source.err >&3; return 1; }; }
check "the source got every message acknowledged" acknowledged
check "300 of them" test "$(json "d['acked']" <source.json)" = 300
check "all are reconstructed, each once" as_user miniapp process gridrec --pilot demo --output out --count 300 --progress none
check "the pilot stops" pilot stop demo
check "nothing is left" nothing_on_hosts
