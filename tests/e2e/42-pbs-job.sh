#!/usr/bin/env bash
# A whole streaming run in one PBS job: Kafka and mini-apps on the nodes that a batch script holds.
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
. "$source_folder/tests/e2e/lib.sh"
. "$source_folder/tests/e2e/pbs.sh"

start_cluster 3
cp "$source_folder/examples/pbs-job.sh" "$WORK/job.sh"
chmod 755 "$WORK/job.sh"
job=$(as_user sh -c "MESSAGES=32 qsub -v MESSAGES,KAFKA_HOME -o job.log '$WORK/job.sh'")
job_is_over() { [ "$(of_job "$job" job_state)" = F ]; }
within 150 "the job ends" job_is_over
cat "$user_home/job.log"
check "well" test "$(of_job "$job" Exit_status)" = 0
check "everything was acknowledged" grep -q 'acknowledged   32 of 32 messages' "$user_home/job.log"
check "and reconstructed" grep -q ': 2 complete, 0 not' "$user_home/job.log"
check "with a volume per scan" test "$(find "$user_home/streaming-${job%%.*}" -name 'scan-*.h5' | wc -l)" -eq 2
check "its pilot is gone" test -z "$(pilot list --json | json "' '.join(p['name'] for p in d['pilots'])")"
check "nothing is left" nothing_on_hosts
