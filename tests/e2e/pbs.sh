# shellcheck shell=bash
# For tests on a virtual cluster with a real OpenPBS: sourced after lib.sh.  No distribution has one: it is built
# from source (scripts/vcluster), and where it is not there, these tests are skipped.
export VC_PBS=${VC_PBS:-/opt/pbs}
[ -x "$VC_PBS/sbin/pbs_server" ] || skip "there is no OpenPBS in $VC_PBS (VC_PBS)"
system=pbs system_path=$VC_PBS/bin system_logs='hosts/head/pbs/server_logs/*'
jobs_of_user() { as_user qselect -u "$VC_USER"; }
# shellcheck source=cluster.sh
. "${source_folder:?}/tests/e2e/cluster.sh"

# of_job JOB ATTRIBUTE: as qstat tells it, also of a job that is over.
of_job() { as_user qstat -x -f "$1" | sed -n "s/^ *$2 = //p"; }
