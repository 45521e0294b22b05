#!/usr/bin/env bash
# A pilot on a real Slurm of virtual hosts, as an ordinary user: nodes, data, repairs, refusals, nothing left.
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
. "$source_folder/tests/e2e/lib.sh"
. "$source_folder/tests/e2e/slurm.sh"

start_cluster 3

refuses 2 "invalid partition specified: nosuch" pilot start x --resource slurm -p nosuch
refuses 2 "partition 'normal' has 3 nodes, 9 are wanted" pilot start x --resource slurm -N 9
refuses 2 "partition 'short' allows 2m00s, 1h00m is wanted" pilot start x --resource slurm -p short -t 1h
refuses 2 "nodes must be at least 1, not 0" pilot start x --resource slurm -N 0
refuses 2 "has nodes of at most 4 cores" pilot start x --resource slurm --cores 5
# shellcheck disable=SC2016 # it shall reach sbatch as it is
refuses 2 "Invalid feature specification" pilot start x --resource slurm --validate --constraint 'no"such $(x)'
check "a start is judged without a job" as_user sh -c 'pilot start x --resource slurm -N 2 -t 20m --validate >judged'
check "in Slurm's words" grep -q 'Slurm: it would start at .* on nodes node\[01-02\] in partition normal' "$user_home/judged"
check "and no job of them is left" test -z "$(jobs_of_user)"

pilot start later --resource slurm -N 1 -t 20m -p closed --progress plain >"$WORK/queue.log" 2>&1 &
waiter=$!
told() { grep -q "allocation a0 pending: PENDING, PartitionDown: the partition starts no jobs now" "$WORK/queue.log"; }
within 20 "who waits is told why" told
status=$(pilot status later) || fail "a pilot that waits in the queue is nothing that failed"
check "and so is who asks" grep -q "^a0 *pending .*PartitionDown" <<<"$status"
check "its job is taken back" pilot stop later
wait "$waiter" && fail "a pilot that was stopped got ready"
check "and gone" test -z "$(jobs_of_user)"

check "the script is shown" as_user sh -c 'pilot start demo --resource slurm -N 2 -t 20m --dry-run >dry'
check "with what was asked for" grep -q '^#SBATCH --time=20$' "$user_home/dry"
check "a pilot starts" pilot start demo --resource slurm -N 2 -t 20m --framework kafka
check "on two nodes with addresses of their own" test \
  "$(status_of demo "' '.join(sorted(n['address'] for n in d['nodes']))")" = "10.77.0.11 10.77.0.12"
job=$(status_of demo "d['allocations'][0]['job']")
check "its script is the one that was shown" diff \
  <(grep '^#SBATCH' "$user_home/dry" | grep -v comment) \
  <(grep '^#SBATCH' "$user_home/.local/state/pilot/pilots/demo/allocations/a0.sh" | grep -v comment)

broker=$(pid_of demo kafka/broker-2)
agent=$(pid_of demo node-2)
on_node node02 kill -9 "$agent"
within 20 "a killed agent comes back by its node's script" another_process demo node-2 "$agent"
agent=$(pid_of demo node-2)
on_node node02 sh -c "kill -9 \$(pgrep -f '[a]0.sh node') $agent || true"
within 40 "and by a new step when the script is gone as well" another_process demo node-2 "$agent"
within 20 "the pilot is ready again" is_ready demo
check "its broker ran on" on_node node02 kill -0 "$broker"

check "the pilot stops" pilot stop demo
check "its job is over" test -n "$(as_user squeue --noheader --states=all --jobs="$job" -o %T | grep -E 'COMPLETED|CANCELLED|FAILED')"
check "nothing is left" nothing_on_hosts

cat >"$WORK/scan.yaml" <<YAML
pilot: {name: scan, resource: slurm, nodes: 2, frameworks: [kafka]}
sources: [{light: {phantom: shepp-logan, size: 64, angles: 45, slices: 8, rate: 40/s, count: 16}}]
processors: [{gridrec: {parallelism: 2}}]
output: out
timeout: 4m
YAML
check "a scan streams through" as_user sh -c "pilot run '$WORK/scan.yaml' --json >run.json"
check "16 messages were acknowledged and 16 reconstructed" \
  test "$(json "(d['acknowledged'], d['reconstructed'])" <"$user_home/run.json")" = "(16, 16)"
check "nothing is left" nothing_on_hosts

refuses 1 "node-2: nothing was ever heard of the head agent at tcp://127.0.0.1:" pilot start lost --resource slurm -N 2 \
  --batch network=lo --ready-timeout 30s
check "and which addresses there are" grep -qF "this node has lo 127.0.0.1, eth0 10.77.0.12" "$WORK/refused.err"
check "what failed is cleaned up" pilot stop lost

pilot start gone --resource slurm -N 1 >"$WORK/start.log" 2>&1
as_user scancel --name pilot-gone
says_over() { grep -qE "is over: CANCELLED|CANCELLED.* nothing of it runs any more" <<<"$(pilot status gone 2>&1)"; }
within 90 "a job that was cancelled by hand is noticed" says_over
check "and its pilot can be stopped" pilot stop gone
check "nothing is left" nothing_on_hosts
