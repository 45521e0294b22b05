#!/usr/bin/env bash
# A pilot on a real OpenPBS, as an ordinary user: refusals, growth by another job while data flow, parts of jobs
# given back, repairs, nothing lost and nothing left.
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
. "$source_folder/tests/e2e/lib.sh"
. "$source_folder/tests/e2e/pbs.sh"

start_cluster 5

refuses 2 "Unknown queue" pilot start x --resource pbs -p nosuch
refuses 2 "there are 5 nodes, 9 are wanted" pilot start x --resource pbs -N 9
refuses 2 "queue 'short' allows 2m00s, 1h00m is wanted" pilot start x --resource pbs -p short -t 1h
refuses 2 "Can Never Run: Insufficient amount of resource: host" pilot start x --resource pbs --batch chunk=host=nosuch
refuses 2 "nodes must be at least 1, not 0" pilot start x --resource pbs -N 0
check "what was refused left no job" test -z "$(jobs_of_user)"

check "the script is shown" as_user sh -c 'pilot start demo --resource pbs -N 3 -t 20m --dry-run >dry'
check "a pilot starts" as_user env TOKEN=s3cret pilot start demo --resource pbs -N 3 -t 20m --framework kafka
base=$(job_of a0)
check "its script is the one that was shown" diff <(grep '^#PBS' "$user_home/dry" | grep -v -e '-N') \
  <(grep '^#PBS' "$user_home/.local/state/pilot/pilots/demo/allocations/a0.sh" | grep -v -e '-N')
check "the user's environment is not shown to others" test -z "$(as_user qstat -f "$base" | grep s3cret)"
check "but its agents have it" on_node node02 grep -qz '^TOKEN=s3cret$' "/proc/$(pid_of demo node-2)/environ"
check "nodes have all their cores" test "$(status_of demo "{n['cores'] for n in d['nodes']} == {$(nproc)}")" = True

begin_source 450
refuses 2 "would never run" pilot extend demo -N 9
check "two more nodes come" pilot extend demo -N 2 -t 15m
allocation=$(status_of demo "d['allocations'][-1]['id']")
extension=$(job_of "$allocation")
node_at() { status_of demo "[n['id'] for n in d['nodes'] if n['address'] == '10.77.0.$1'][0]"; }
check "of a job of their own" test "$extension" != "$base"
check "at addresses of their own" test \
  "$(status_of demo "' '.join(sorted(n['address'][-2:] for n in d['nodes']))")" = "11 12 13 14 15"
check "which hold partitions" test "$(holders | wc -w)" = 5

refuses 2 "the head agent runs on node-1" pilot shrink demo --node node-1
refuses 2 "PBS can't take node04 from job $extension" pilot shrink demo --node "$(node_at 14)"
check "a node of the extension is given back" pilot shrink demo --node "$(node_at 15)"
check "its job runs on without it" test "$(of_job "$extension" exec_host)" = node04/0
check "a node of the base is given back" pilot shrink demo --node node-3
check "its job runs on without it" test "$(of_job "$base" exec_host)" = node01/0+node02/0
check "data are on the others" test "$(holders | wc -w)" = 3

agent=$(pid_of demo node-2)
on_node node02 sh -c "kill -9 \$(pgrep -f '[a]0.sh node') $agent || true"
within 60 "an agent that lost its script comes back by a new task" another_process demo node-2 "$agent"
within 20 "the pilot is ready again" is_ready demo

check_source 450
check "the pilot stops" pilot stop demo
check "its jobs are over" test "$(of_job "$base" job_state) $(of_job "$extension" job_state)" = "F F"
check "nothing is left" nothing_on_hosts

pilot start gone --resource pbs -N 1 -t 5m >"$WORK/start.log" 2>&1
as_user qdel "$(jobs_of_user)"
says_over() { grep -qE "is over: F, finished|F, finished.* nothing of it runs any more" <<<"$(pilot status gone 2>&1)"; }
within 90 "a job that was deleted by hand is noticed" says_over
check "and its pilot can be stopped" pilot stop gone
check "nothing is left" nothing_on_hosts
