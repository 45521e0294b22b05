# shellcheck shell=bash
# For tests on a virtual cluster: slurm.sh and pbs.sh source this.  `pilot` and all that lib.sh does with it is
# then run by an ordinary user on the login node; the cluster goes when the test ends.  `start_cluster N` starts it.
# From who sources it: `system`, its tools' folder `system_path` (if not where everything is), its logs `system_logs`
# below VC_DIR, and jobs_of_user, which prints what is in the queue.

cluster=${source_folder:?}/scripts/vcluster
[ "$(id -u)" = 0 ] || skip "virtual hosts need root"
command -v ip >/dev/null || skip "ip is not installed"
problem=$(unshare --net --mount --pid --uts --ipc --fork sh -c '
  ip link add br0 type bridge && ip link add v0 type veth peer name v1 && mount -t tmpfs tmpfs /run &&
    mkdir /run/u /run/w && mount -t overlay overlay -o lowerdir=/etc,upperdir=/run/u,workdir=/run/w /mnt' 2>&1) ||
  skip "this machine permits no virtual hosts (namespaces, bridge, veth, overlay): $problem"

export VC_KEEP=$WORK VC_DIR=$WORK/vc VC_USER=pilot-e2e-${TEST%%-*} # of its own: two tests may run at once
user_home=/home/$VC_USER

# What an ordinary user might not be allowed to read where it stands.
programs=$(dirname "$(readlink -f "$(command -v pilot)")")
kafka=$(pilot frameworks list --json | json "[f['software']['home'] for f in d['frameworks'] if f['name'] == 'kafka'][0]")
export VC_SHOW=$programs:$kafka

end_cluster() {
  local code=$?
  trap - EXIT
  unset -f pilot
  if [ "$code" -ne 0 ]; then
    say "--- logs of the user's pilots, and of ${system:?}"
    # shellcheck disable=SC2086 # a pattern
    tail -n 20 "$user_home"/.local/state/pilot/*/*/logs/*.log "$user_home"/.local/state/pilot/*/*/logs/*/*.log \
      "$VC_DIR"/${system_logs:?} 2>/dev/null || true
  fi
  "$cluster" down || code=1
  set +e
  (exit "$code")
  at_exit
}
trap end_cluster EXIT

as_user() { # on the login node
  (cd / && "$cluster" exec -u "$VC_USER" head env -u PILOT_HOME -u TMPDIR -u XDG_STATE_HOME PATH="$programs:${system_path:+$system_path:}/usr/bin:/bin" \
    KAFKA_HOME="$kafka" sh -c 'cd && exec "$@"' sh "$@")
}
on_node() { (cd / && "$cluster" exec "$@"); }
pilot() { as_user pilot "$@"; }
start_cluster() {
  cluster_nodes=$1
  rm -rf "$user_home"/{.local/state/pilot,out,streaming-*} # of a test that was cut off: its cluster is gone
  check "$1 virtual hosts" "$cluster" up "$1" "$system"
}
nothing_on_hosts() {
  local number host left
  for number in $(seq "$cluster_nodes"); do
    host=$(printf 'node%02d' "$number")
    left=$(on_node "$host" pgrep -a -u "$VC_USER" || true)
    [ -z "$left" ] || { say "left on $host: $left"; return 1; }
    # but scripts/test's own, and with PBS's folder of a job
    left=$(on_node "$host" find /tmp /var/tmp /dev/shm -maxdepth 1 '(' -name 'pilot-*' ! -name 'pilot-test-*' -o -name 'pbs.*' ')')
    [ -z "$left" ] || { say "left on $host: $left"; return 1; }
  done
  [ -z "$(jobs_of_user)" ] || { say "left in the queue: $(jobs_of_user)"; return 1; }
}


# ---- a pilot `demo` through which a source sends meanwhile ----
client='.local/state/pilot/pilots/demo/client/client.librdkafka.properties'
job_of() { status_of demo "[a['job'] for a in d['allocations'] if a['id'] == '$1'][0]"; }
frames_topic() { as_user pilot-kafka topic describe frames --config "$client"; }
topic_is_there() { frames_topic >/dev/null 2>&1; }
holders() { frames_topic | json "' '.join(sorted({str(r) for p in d['topic']['partitions'] for r in p['replicas']}))"; }

begin_source() { # COUNT messages, ten a second
  as_user miniapp source light --pilot demo --phantom shepp-logan --size 64 --angles 48 --slices 8 --rate 10/s --count "$1" \
    --progress none --json >source.json 2>source.err &
  source=$!
  within 60 "data flow" topic_is_there
}
acknowledged() { wait "$source" || { cat source.err >&3; return 1; }; }
check_acknowledged() { # COUNT
  check "the source got every message acknowledged" acknowledged
  check "$1 of them" test "$(json "d['acked']" <source.json)" = "$1"
}
check_source() { # COUNT: nothing was lost
  check_acknowledged "$1"
  check "all are reconstructed, each once" as_user miniapp process gridrec --pilot demo --output out --count "$1" --progress none
}
