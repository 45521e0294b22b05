#!/usr/bin/env bash
# A whole streaming run in one Slurm job: Kafka and mini-apps on the nodes that a batch script holds.
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
. "$source_folder/tests/e2e/lib.sh"
. "$source_folder/tests/e2e/slurm.sh"

start_cluster 3
refuses 2 "it runs in none" pilot start x --resource allocation -N 1
cp "$source_folder/examples/slurm-job.sh" "$WORK/job.sh"
chmod 755 "$WORK/job.sh"
job=$(as_user sh -c "MESSAGES=32 sbatch --parsable --output=job.log '$WORK/job.sh'")
job_is_over() { grep -qE 'COMPLETED|FAILED|CANCELLED|TIMEOUT' <(as_user squeue --noheader --states=all --jobs="$job" -o %T); }
within 150 "the job ends" job_is_over
cat "$user_home/job.log"
check "well" test "$(as_user squeue --noheader --states=all --jobs="$job" -o %T)" = COMPLETED
check "everything was acknowledged" grep -q 'acknowledged   32 of 32 messages' "$user_home/job.log"
check "and reconstructed" grep -q ': 2 complete, 0 not' "$user_home/job.log"
check "with a volume per scan" test "$(find "$user_home/streaming-$job" -name 'scan-*.h5' | wc -l)" -eq 2
check "its pilot is gone" test -z "$(pilot list --json | json "' '.join(p['name'] for p in d['pilots'])")"
check "nothing is left" nothing_on_hosts
