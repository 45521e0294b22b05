#!/usr/bin/env bash
# Slurm's controller is away while a job is submitted, looked at and cancelled: pilot says so, tries again, and
# never takes silence for an end.
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
. "$source_folder/tests/e2e/lib.sh"
. "$source_folder/tests/e2e/slurm.sh"

start_cluster 2
controller_down() {
  on_node head kill -9 "$(on_node head cat /run/slurm/slurmctld.pid)"
  within 5 "the controller is down" sh -c "! (cd / && '$cluster' exec head pgrep -x slurmctld >/dev/null)"
}
controller_up() { on_node head slurmctld; }
answers() { as_user squeue --noheader >/dev/null 2>&1; }
said() { grep -qF -- "$1" "$2"; }

controller_down
pilot start demo --resource slurm -N 2 -t 20m >start.log 2>&1 &
start=$!
within 60 "a start says that the controller is away, and tries again" said \
  "slurmctld does not answer; trying again in" start.log
controller_up
check "and goes on when it is back" wait "$start"
check "with one job" test "$(jobs_of_user | wc -l)" = 1
check "the pilot is ready" is_ready demo

controller_down
check "without the controller its state is known all the same" is_ready demo
rm -f "$user_home"/.local/state/pilot/batch/slurm.jobs # as if it were looked at for the first time
agent=$(pid_of demo node-2)
on_node node02 kill -9 "$agent"
within 20 "its agents are started again" another_process demo node-2 "$agent"
pilot stop demo >stop.log 2>&1 &
stop=$!
within 90 "a stop says so too" said "slurmctld does not answer" stop.log
controller_up
within 20 "the controller is back" answers
stopped() { wait "$stop" || { cat stop.log >&3; return 1; }; }
check "the stop ends well" stopped
within 120 "nothing is left, once Slurm has told the nodes again" nothing_on_hosts
