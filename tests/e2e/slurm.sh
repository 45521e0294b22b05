# shellcheck shell=bash
# For tests on a virtual Slurm cluster: sourced after lib.sh.
for tool in slurmctld slurmd munged; do command -v "$tool" >/dev/null || skip "$tool is not installed"; done
system=slurm system_path='' system_logs=log/slurmctld.log
jobs_of_user() { as_user squeue --noheader --me; }
# shellcheck source=cluster.sh
. "${source_folder:?}/tests/e2e/cluster.sh"
