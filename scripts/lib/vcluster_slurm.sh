# shellcheck shell=bash
# A part of scripts/vcluster: Slurm on the virtual hosts, slurmctld on the head and a slurmd on each node.

slurm_path() { :; } # Debian's packages put it where everything is

slurm_check() {
  local tool
  for tool in slurmctld slurmd munged; do
    PATH=$PATH:/usr/sbin:/sbin command -v "$tool" >/dev/null ||
      die "$tool is not installed (scripts/packages.txt, group vcluster)"
  done
}

slurm_config() {
  local list gres_types='' gres=''
  list=$(printf 'node[01-%02d]' "$(cat "$VC_DIR/n")")
  # without any, since a job that has generic resources, be they 0 GPUs, can't be made bigger
  [ "$VC_GPUS" = 0 ] || gres_types=GresTypes=gpu gres=Gres=gpu:$VC_GPUS
  mkdir -p "$VC_DIR/slurm/state"
  touch "$VC_DIR/log/slurmctld.log" "$VC_DIR/slurm/jobcomp.txt"
  chown slurm: "$VC_DIR/slurm/state" "$VC_DIR/log/slurmctld.log" "$VC_DIR/slurm/jobcomp.txt"
  [ -f "$VC_DIR/munge.key" ] || (umask 077 && head -c 128 /dev/urandom >"$VC_DIR/munge.key")
  chown munge: "$VC_DIR/munge.key"
  cat >"$VC_DIR/slurm/slurm.conf" <<CONF
ClusterName=vcluster
SlurmctldHost=head
SlurmUser=slurm
AuthType=auth/munge
CredType=cred/munge
# no cgroups, no cpu binding: many slurmd share one kernel
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
# believe the node lines below, not the hardware
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerType=sched/backfill
SchedulerParameters=permit_job_expansion,bf_interval=5,batch_sched_delay=0
StateSaveLocation=$VC_DIR/slurm/state
SlurmdSpoolDir=/run/slurm/spool
SlurmctldPidFile=/run/slurm/slurmctld.pid
SlurmdPidFile=/run/slurm/slurmd.pid
SlurmctldLogFile=$VC_DIR/log/slurmctld.log
SlurmdLogFile=$VC_DIR/log/slurmd.%n.log
JobCompType=jobcomp/filetxt
JobCompLoc=$VC_DIR/slurm/jobcomp.txt
# short timers, so that tests need not wait
SlurmdTimeout=15
KillWait=5
MinJobAge=300
ReturnToService=2
DefMemPerCPU=100
$gres_types
NodeName=$list CPUs=$VC_CPUS RealMemory=$VC_MEM $gres State=UNKNOWN
PartitionName=normal Nodes=$list Default=YES MaxTime=60 DefaultTime=10 State=UP
PartitionName=short  Nodes=$list MaxTime=2 State=UP
PartitionName=long   Nodes=$list MaxTime=1-00:00:00 DefaultTime=60 State=UP
PartitionName=closed Nodes=$list State=DOWN
CONF
  [ -z "$VC_ACCT" ] || printf '%s\n' AccountingStorageType=accounting_storage/slurmdbd \
    AccountingStorageHost=head >>"$VC_DIR/slurm/slurm.conf"
  [ -z "$VC_SWITCHES" ] || slurm_topology
}

# The nodes in their order, in equal parts, below leaf1, leaf2 ... below top.
slurm_topology() {
  local n leaf first last
  n=$(cat "$VC_DIR/n")
  echo TopologyPlugin=topology/tree >>"$VC_DIR/slurm/slurm.conf"
  for leaf in $(seq "$VC_SWITCHES"); do
    first=$((n * (leaf - 1) / VC_SWITCHES + 1)) last=$((n * leaf / VC_SWITCHES))
    printf 'SwitchName=leaf%d Nodes=node[%02d-%02d]\n' "$leaf" "$first" "$last"
  done >"$VC_DIR/slurm/topology.conf"
  printf 'SwitchName=top Switches=leaf[1-%d]\n' "$VC_SWITCHES" >>"$VC_DIR/slurm/topology.conf"
}

# Starts the daemons of one host.
slurm_boot() {
  local host=$1 folder
  folder=$(host_folder "$host")
  mkdir -p "$folder/munge"
  chown munge: "$folder/munge"
  as_root "$host" sh -c "
    mkdir -p /run/munge /run/slurm/spool; chown munge: /run/munge; chown slurm: /run/slurm
    cp '$VC_DIR/slurm/slurm.conf' /etc/slurm/slurm.conf
    [ ! -f '$VC_DIR/slurm/topology.conf' ] || cp '$VC_DIR/slurm/topology.conf' /etc/slurm/
    # a GPU needs a device of its own to stand for it: copies of /dev/null
    for i in \$(seq 0 $((VC_GPUS - 1))); do
      mknod /run/gpu\$i c 1 3; echo Name=gpu File=/run/gpu\$i
    done >/etc/slurm/gres.conf
    setpriv --reuid=munge --regid=munge --clear-groups munged --key-file='$VC_DIR/munge.key' \
      --log-file='$folder/munge/munged.log' --seed-file='$folder/munge/munge.seed' \
      --pid-file=/run/munge/munged.pid --socket=/run/munge/munge.socket.2"
  if [ "$host" = head ]; then
    [ -z "$VC_ACCT" ] || slurm_boot_accounting
    as_root head slurmctld
  else
    as_root "$host" slurmd
  fi
}

# slurmdbd and the MariaDB that it wants; slurm's login there is its unix user.
slurm_boot_accounting() {
  local db=$VC_DIR/mysql
  if [ ! -d "$db" ]; then
    install -d -o mysql "$db"
    # the caller's TMPDIR is not the database's
    as_root head env -u TMPDIR mariadb-install-db --no-defaults --user=mysql --datadir="$db" --skip-test-db \
      >"$VC_DIR/log/mysql.log" 2>&1
  fi
  touch "$VC_DIR/log/slurmdbd.log"
  chown slurm: "$VC_DIR/log/slurmdbd.log"
  as_root head sh -c "
    install -d -o mysql /run/mysqld
    setsid env -u TMPDIR mariadbd --no-defaults --user=mysql --datadir='$db' --socket=/run/mysqld/mysqld.sock \
      --skip-networking --innodb-buffer-pool-size=64M --innodb-lock-wait-timeout=900 \
      </dev/null >>'$VC_DIR/log/mysql.log' 2>&1 &
    umask 077
    printf '%s\n' DbdHost=head SlurmUser=slurm AuthType=auth/munge StorageType=accounting_storage/mysql \
      StorageHost=localhost StorageUser=slurm PidFile=/run/slurm/slurmdbd.pid \
      LogFile='$VC_DIR/log/slurmdbd.log' >/etc/slurm/slurmdbd.conf
    chown slurm: /etc/slurm/slurmdbd.conf"
  wait_for 30 mariadbd as_root head mariadb -e 'select 1'
  as_root head mariadb -e "create user if not exists slurm@localhost identified via unix_socket;
                           grant all on slurm_acct_db.* to slurm@localhost"
  as_root head slurmdbd
  wait_for 30 slurmdbd as_root head sacctmgr -n list cluster
  as_root head sacctmgr -i add cluster vcluster >/dev/null || true # there already after a crash
}

slurm_ready() {
  local up
  up=$(as_root head sinfo -h -p normal -t idle,alloc,mix -o %D | awk '{n += $1} END {print n + 0}')
  [ "$up" = "$(cat "$VC_DIR/n")" ]
}
