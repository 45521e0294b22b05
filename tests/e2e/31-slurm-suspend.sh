#!/usr/bin/env bash
# A job is suspended and resumed while data flow, first an extension's, then the base's with the head agent in it: that
# is said, nothing is concluded from it, and afterwards all goes on with every message.  Slurm without cgroups stops
# what descends from its steps; with them it freezes all, as is done here beside it.
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
. "$source_folder/tests/e2e/lib.sh"
. "$source_folder/tests/e2e/slurm.sh"

start_cluster 3
suspend() { # JOB HOST...: all of it, services too
  local host
  on_node head scontrol suspend "$1"
  for host in "${@:2}"; do on_node "$host" pkill -STOP -u "$VC_USER"; done
}
resume() {
  local host
  for host in "${@:2}"; do on_node "$host" pkill -CONT -u "$VC_USER"; done
  on_node head scontrol resume "$1"
}
state_of() { status_of demo "[x['state'] for x in d['allocations'] + d['nodes'] + d['services'] if x['id'] == '$1'][0]" 2>/dev/null; }
is() { [ "$(state_of "$1")" = "$2" ]; }
events() { pilot events demo; }
ends() { as_user squeue --noheader --jobs="$1" -o %L; }

check "a pilot starts" pilot start demo --resource slurm -N 2 -t 30m --framework kafka --lost-after 12s
begin_source 900
check "one more node comes" pilot extend demo -N 1 -t 20m
base=$(job_of a0) extension=$(job_of a1)
check "its broker holds data" grep -qw 3 <(holders)

say "--- an extension"
suspend "$extension" node03
within 60 "its job is shown as suspended" is a1 suspended
check "and its node" is node-3 suspended
check "and its broker" is kafka/broker-3 suspended
check "with the reason" grep -qF 'a1 is suspended by the batch system: SUSPENDED' <(pilot status demo)
later=$((SECONDS + 25)) # twice what a lost node is waited for
after_a_while() { [ "$SECONDS" -ge "$later" ]; }
within 30 "time passes" after_a_while
check "it is suspended still" is a1 suspended
check "nothing was concluded" test -z "$(events | grep -E 'given back|being given|released')"
resume "$extension" node03
within 20 "it is resumed" is a1 running
within 20 "its node is up" is node-3 up
within 40 "all is well" is_ready demo

say "--- the base"
left=$(ends "$base")
suspend "$base" node01 node02
says_suspended() { grep -qF "its job $base is suspended by the batch system: SUSPENDED" <<<"$(pilot status demo 2>&1)"; }
within 60 "that its job is suspended is said" says_suspended
check "it is shown" is a0 suspended
refuses 5 "SUSPENDED" pilot extend demo -N 1
later=$((SECONDS + 20)) # longer than a silent head is waited for
within 30 "time passes" after_a_while
resume "$base" node01 node02
say "time left before: $left, after: $(ends "$base")"
same_head() { grep -q 'stood still' <(events); }
within 20 "the same head goes on" same_head
within 60 "all is well" is_ready demo
check "it was started once" test "$(status_of demo "d['head']['starts']")" = 1
check "nothing was concluded" test -z "$(events | grep -E 'given back|being given|released')"
check "all nodes are up" test "$(status_of demo "' '.join(n['state'] for n in d['nodes'])")" = "up up up"
check_source 900

say "--- and the end"
on_node head scontrol suspend "$base"
within 60 "its job is shown as suspended" is a0 suspended
refuses 6 "was suspended (SUSPENDED) and ended without a chance to clean up: node01:" pilot stop demo
for host in node01 node02; do on_node "$host" find /tmp -maxdepth 1 -name "pilot-$VC_USER-*" -exec rm -r {} +; done
check "nothing else is left" nothing_on_hosts
