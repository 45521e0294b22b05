#!/usr/bin/env bash
# The job of a pilot on a real Slurm grows itself, though whoever asked for that is killed, while data
# flow; nothing is lost.  What Slurm does not permit is refused before, and no job that asks is left.
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
. "$source_folder/tests/e2e/lib.sh"
. "$source_folder/tests/e2e/slurm.sh"

start_cluster 4
nodes_of_job() { as_user squeue --noheader --states=all --jobs="$1" -o '%T %N'; }
up() { status_of demo "' '.join(n['id'] for n in d['nodes'] if n['state'] == 'up' and n['allocation'] != 'a0')"; }
has_come() { [ -n "$(up)" ]; }
is_whole() { is_ready demo && [ "$(status_of demo "d['clusters'][0]['problem'] + str(d['clusters'][0]['moving'] or d['clusters'][0]['changing'])")" = False ]; }
waits() { [ -n "$(as_user squeue --noheader --me --states=PENDING --name="pilot-$1" -o %i)" ]; }
permit() { # as slurm.conf says in the line $1
  on_node head sed -i "s/^SchedulerParameters=.*/SchedulerParameters=$1/" /etc/slurm/slurm.conf
  on_node head scontrol reconfigure
}

check "a pilot starts" pilot start demo --resource slurm -N 2 -t 20m --framework kafka
begin_source 450
base=$(job_of a0)
refuses 2 "end with it" pilot extend demo --in-place -t 10m
refuses 2 "would never run" pilot extend demo --in-place -N 9
permit batch_sched_delay=0
refuses 2 "it has no permit_job_expansion" pilot extend demo --in-place
permit permit_job_expansion,bf_interval=5,batch_sched_delay=0
check "what was refused left no job" test "$(jobs_of_user | wc -l)" = 1

other=$(as_user sbatch --parsable --exclusive -N2 -o /dev/null --wrap 'sleep 600')
pilot extend demo --in-place -N 1 >extend.out 2>&1 &
within 30 "another job asks for a node and waits" waits demo
killed=$(on_node head pgrep -u "$VC_USER" -f '^pilot extend demo')
check "who asked is killed" on_node head kill -9 "$killed"
wait $! || true
check "the other nodes are free" as_user scancel "$other"
within 90 "the node comes all the same" has_come
node=$(up)
check "it is part of the base's job" test "$(nodes_of_job "$base")" = "RUNNING node[01-03]"
of_no_other() { [ "$(status_of demo "d['allocations'][-1]['job']") $(jobs_of_user | wc -l)" = "$base 1" ]; }
within 20 "and of no other" of_no_other
holds_data() { is_whole && grep -qw "${node##*-}" <(holders); }
within 90 "its broker holds data beside the others" holds_data
refuses 2 "resizes a job only once" pilot shrink demo --node "$node"

other=$(as_user sbatch --parsable --exclusive -N1 -o /dev/null --wrap 'sleep 600')
check "a second time a job asks, and waits" pilot extend demo --in-place -N 1 --no-wait
within 10 "the queue has it" waits demo

check_source 450
told() { grep -q 'leaving: its time will be over' "$user_home/.local/state/pilot/pilots/demo/logs/$node.log"; }
check "the job warns of its end" on_node head scancel --batch --signal=USR1 "$base"
within 20 "also the node that it gained" told
check "the pilot stops" pilot stop demo
taken_back() { [ -z "$(as_user squeue --noheader --me --name=pilot-demo)" ]; }
within 20 "and with it the job that waited" taken_back
as_user scancel "$other"
alone() { [ -z "$(jobs_of_user)" ]; }
within 20 "the queue is empty" alone
check "nothing is left" nothing_on_hosts
