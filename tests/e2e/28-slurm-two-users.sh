#!/usr/bin/env bash
# Two users' pilots of one name on the same nodes of a real Slurm at once: they never meet.
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
. "$source_folder/tests/e2e/lib.sh"
. "$source_folder/tests/e2e/slurm.sh"

first=$VC_USER other=$VC_USER-2
remove_other() {
  local code=$?
  trap - EXIT
  userdel -r "$other" >/dev/null 2>&1 || true
  (exit "$code") || :
  set +e
  (exit "$code")
  end_cluster
}
trap remove_other EXIT
id "$other" >/dev/null 2>&1 || useradd -m -s /bin/bash "$other"
rm -rf "/home/$other/.local" "/home/$other/out"
start_cluster 2 # whose hosts know the users that there are now
as_other() {
  (cd / && "$cluster" exec -u "$other" head env -u PILOT_HOME -u TMPDIR -u XDG_STATE_HOME PATH="$programs:/usr/bin:/bin" \
    KAFKA_HOME="$kafka" sh -c 'cd && exec "$@"' sh "$@")
}
nodes_of() { json "' '.join(sorted(n['address'] for n in d['nodes']))"; }
ports_of() { json "' '.join(sorted(s['endpoint'] for s in d['services']))"; }

part=(--resource slurm -N 2 -t 20m --cores 2 --memory 1800M --framework kafka)
as_user pilot start demo "${part[@]}" >one.log 2>&1 &
one=$!
as_other pilot start demo "${part[@]}" >two.log 2>&1 &
two=$!
check "one user's pilot starts" wait "$one"
started_too() { wait "$two" || { cat two.log >&3; return 1; }; }
check "another's starts" started_too
as_user pilot status demo --json >one.json
as_other pilot status demo --json >two.json
check "on the same nodes" test "$(nodes_of <one.json)" = "$(nodes_of <two.json)"
check "with ports of their own" test -z "$(comm -12 <(ports_of <one.json | tr ' ' '\n' | sort) <(ports_of <two.json | tr ' ' '\n' | sort))"
check "neither can read the other's folder" sh -c "! (cd / && '$cluster' exec -u '$other' head ls '$user_home/.local/state/pilot/pilots/demo' 2>/dev/null)"

run() { # USER-COMMAND COUNT: messages of one user, numbered, through the user's own pilot
  "$1" miniapp source light --pilot demo --phantom shepp-logan --size 32 --angles 24 --slices 4 --rate 20/s --count "$2" \
    --progress none --json
}
run as_user 120 >one-source.json 2>one.err &
one=$!
run as_other 72 >two-source.json 2>two.err &
two=$!
check "data flow through one" wait "$one"
check "and the other" wait "$two"
check "each has its own messages" test "$(json "d['acked']" <one-source.json) $(json "d['acked']" <two-source.json)" = "120 72"
check "the first's are all there, once" as_user miniapp process gridrec --pilot demo --output out --count 120 --progress none
check "one stops" pilot stop demo
check "the other runs on" test "$(as_other pilot status demo --json | json "d['state']")" = ready
check "with all of its messages" as_other miniapp process gridrec --pilot demo --output out --count 72 --progress none
check "and stops" as_other pilot stop demo
check "nothing is left of one" nothing_on_hosts
VC_USER=$other
check "nor of the other" nothing_on_hosts
VC_USER=$first
