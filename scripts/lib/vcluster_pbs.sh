# shellcheck shell=bash
# A part of scripts/vcluster: OpenPBS on the virtual hosts, server, scheduler and pbs_comm on the head, a MoM on
# each node, each with a PBS_HOME and an /etc/pbs.conf of its own.

pbs_path() { echo "$VC_PBS/bin:$VC_PBS/sbin"; }

pbs_check() {
  [ -x "$VC_PBS/sbin/pbs_server" ] ||
    die "there is no OpenPBS in $VC_PBS (VC_PBS); no distribution has it: build github.com/openpbs/openpbs as its INSTALL says"
  id postgres >/dev/null 2>&1 || die "postgresql is not installed: the PBS server keeps its jobs there"
}

pbs_config() { :; }

# A server's home with its database takes 10 s to make: a copy of the first one is kept.
pbs_home_copy() {
  echo "${XDG_CACHE_HOME:-$HOME/.cache}/pilot/vcluster-pbs-$(stat -c '%n %Y' "$VC_PBS"/sbin/pbs_server* | cksum | cut -d' ' -f1).tar"
}

# Starts the daemons of one host.
pbs_boot() {
  local host=$1 server=0
  [ "$host" != head ] || server=1
  as_root "$host" env server=$server store="$(host_folder "$host")/pbs" copy="$(pbs_home_copy)" pbs="$VC_PBS" \
    bash -ec "$(declare -f pbs_daemons); pbs_daemons" >>"$VC_DIR/log/$host.pbs.log" 2>&1 ||
    die "PBS did not start on $host: $(tail -n 3 "$VC_DIR/log/$host.pbs.log")"
  pbs_make_known "$host"
}

# Runs on the host.  PBS refuses a home below a folder that everybody can write to (/tmp): it is shown at /run/pbs.
# shellcheck disable=SC2154 # set by pbs_boot
pbs_daemons() {
  local home=/run/pbs
  mkdir -p "$store" $home
  mount --bind "$store" $home
  install -d -m 2775 -g postgres /run/postgresql
  printf '%s\n' PBS_EXEC="$pbs" PBS_HOME=$home PBS_SERVER=head PBS_CORE_LIMIT=unlimited PBS_SCP=/usr/bin/scp \
    PBS_START_SERVER="$server" PBS_START_SCHED="$server" PBS_START_COMM="$server" PBS_START_MOM=$((1 - server)) >/etc/pbs.conf
  # or pbs_postinstall would register a service with this machine
  [ ! -d /lib/systemd/system ] || mount -t tmpfs tmpfs /lib/systemd/system
  if [ -d $home/spool ]; then
    rm -f $home/*_priv/*.lock # left behind by a crash
  elif [ "$server" = 0 ]; then
    "$pbs/libexec/pbs_postinstall" execution '' "$pbs" $home '' sameconf
    # files go to and fro by plain cp: /home is shared.  Limits are looked at every second, not every 10 to 120.
    # shellcheck disable=SC2016 # for the MoM
    printf '%s\n' '$usecp *:/ /' '$min_check_poll 1' '$max_check_poll 2' >$home/mom_priv/config
    echo "PATH=$PATH" >$home/pbs_environment
  elif [ -f "$copy" ]; then
    tar -xf "$copy" -C $home
  else
    "$pbs/libexec/pbs_postinstall" server '' "$pbs" $home '' sameconf
    "$pbs/libexec/pbs_habitat"
    sed -i 's/^resources: "[^"]*/&, ngpus/' $home/sched_priv/sched_config
    mkdir -p "${copy%/*}"
    tar -cf "$copy.$$" -C $home .
    mv "$copy.$$" "$copy"
  fi
  env -u TMPDIR "$pbs/libexec/pbs_init.d" start # jobs get theirs below a MoM's, which is a host's own
}

# Tells the server about a host.  Timers are short, so that tests need not wait.
pbs_make_known() {
  if [ "$1" != head ]; then
    as_root head pbsnodes "$1" >/dev/null 2>&1 && return
    printf '%s\n' "create node $1" "set node $1 resources_available.ncpus = $VC_CPUS" \
      "set node $1 resources_available.mem = ${VC_MEM}mb" "set node $1 resources_available.ngpus = $VC_GPUS" |
      as_root head qmgr >>"$VC_DIR/log/head.pbs.log" 2>&1
  elif ! as_root head qstat -Q closed >/dev/null 2>&1; then
    printf '%s\n' "set server flatuid = True" "set server job_history_enable = True" \
      "set server node_fail_requeue = 15" "set server scheduler_iteration = 10" "set queue workq kill_delay = 5" \
      "create resource ngpus type=long, flag=nh" \
      "create queue short queue_type=execution, enabled=True, started=True, kill_delay=5, resources_max.walltime=00:02:00" \
      "create queue closed queue_type=execution, enabled=False, started=True" |
      as_root head qmgr >>"$VC_DIR/log/head.pbs.log" 2>&1
  fi
}

pbs_ready() { [ "$(as_root head pbsnodes -a | grep -c '^ *state = \(free\|job-\)')" = "$(cat "$VC_DIR/n")" ]; }
