# shellcheck shell=bash disable=SC2154,SC2317
# From here on the script is the same for every batch system; what differs stands above.
# (adaptors/batch/host/job_script.sh)

say() { echo "$(date '+%F %T') $*"; }

# ---- on a node --------------------------------------------------------------------------------------------

# address_towards HOST: this node's IPv4 address on the way there, unless that is only the loopback.
address_towards() {
  local target address
  target=$(getent ahostsv4 "$1" | awk 'NR == 1 {print $1}')
  [ -n "$target" ] || return 0
  address=$(ip -4 -o route get "$target" 2>/dev/null | sed -n 's/.* src \([0-9.]*\).*/\1/p')
  case $address in
    127.* | '') ;;
    *) echo "$address" ;;
  esac
}

ip_number() {
  local IFS=. part number=0
  for part in $1; do number=$((number * 256 + part)); done
  echo "$number"
}

# addresses [INTERFACE]: lines "INTERFACE ADDRESS".
addresses() { ip -4 -o addr show ${1:+dev "$1"} | awk '{sub("/.*", "", $4); print $2, $4}'; }

# address_within A.B.C.D/BITS
address_within() {
  local mask=$((0xffffffff << (32 - ${1#*/}) & 0xffffffff)) net address
  net=$(ip_number "${1%/*}")
  addresses | while read -r _ address; do
    case $1:$address in 127.*) ;; *:127.*) continue ;; esac # nobody else comes there
    if [ $(($(ip_number "$address") & mask)) -eq $((net & mask)) ]; then
      echo "$address"
      break
    fi
  done
}

# Where this node's services listen: as `network` says, or on the interface that leads to the head's node.
node_address() {
  local address host
  case $network in
    auto)
      for host in $(head -n 2 "$pilot_dir/allocations/$allocation.nodes") "$submit_host" "$(hostname)"; do
        address=$(address_towards "$host")
        [ -z "$address" ] || break
      done
      [ -n "$address" ] || address=$(hostname -I | tr ' ' '\n' | grep -m 1 -E '^[0-9.]+$')
      ;;
    */*) address=$(address_within "$network") ;;
    *) address=$(addresses "$network" | awk 'NR == 1 {print $2}') ;;
  esac
  [ -n "$address" ] || say "network '$network' gives no address; this node has: $(addresses | tr '\n' ' ')" >&2
  echo "$address"
}

# memory_here RANK: the bytes that services may use: what was asked for, what the job has, or all there is.
memory_here() {
  local total granted host files=$pilot_dir/allocations/$allocation
  total=$(awk '$1 == "MemTotal:" {printf "%.0f", $2 * 1024}' /proc/meminfo)
  host=$(sed -n "$(($1 + 1))p" "$files.nodes")
  # no such file: the job got this node later, from another one
  granted=${memory_wanted:-$({ cat "$files.memory" 2>/dev/null || node_memory; } |
    awk -v host="$host" '$1 == host {print $2; exit}')}
  if [ -n "$granted" ] && [ "$granted" -gt 0 ] && [ "$granted" -lt "$total" ]; then total=$granted; fi
  echo "$total"
}

# TMPDIR, unless the system removes it for all nodes when one of them is given back.
own_tmpdir() { [ -e "$pilot_dir/allocations/$allocation.shared" ] || echo "${TMPDIR:-}"; }

# A folder of this node for the pilot's data: the first of the possible ones that can be written to.
scratch_root() {
  local base
  for base in "$(scratch_wanted)" "$(system_scratch)" "$(own_tmpdir)" /tmp; do
    [ -n "$base" ] || continue
    if mkdir -p "$base" 2>/dev/null && [ -w "$base" ]; then
      echo "$base/pilot-$(id -un)-${pilot_id:0:12}"
      return
    fi
    say "no files can be made in '$base'" >&2
    [ "$base" != "$(scratch_wanted)" ] || return 1 # who names a folder wants that one
  done
  return 1
}

run_node() {
  [ "$1" -lt "$nodes_wanted" ] || exit 0 # a job may have more nodes than the pilot wants
  umask 077
  exec </dev/null >>"$pilot_dir/logs/node-$(($1 + first_node)).log" 2>&1
  # What the launcher does not pass on; here, for it declares variables, and before there are any that it could set.
  # shellcheck source=/dev/null
  [ -z "$carries_environment" ] || . "$pilot_dir/allocations/$allocation.env"
  local rank=$1 node=node-$(($1 + first_node)) root address agent='' told='' guard='' lock=0
  prologue
  # The job may be told to end at any moment; what it has made by then must not be left behind.
  trap 'told=1; [ -z "$agent" ] || kill -TERM "$agent" 2>/dev/null' TERM INT
  trap '' USR1 HUP
  root=$(scratch_root) || exit 5
  mkdir -m 700 "$root" 2>/dev/null
  if [ ! -d "$root" ] || [ -L "$root" ] || [ ! -O "$root" ]; then
    say "'$root' is not a folder of ours"
    exit 5
  fi
  if [ -n "$removes_tmpdir" ] && [ -n "$(own_tmpdir)" ]; then
    setsid /bin/bash "$script" guard &
    guard=$!
  fi
  exec 9>"$root/$node.lock"
  flock -n -E 99 9 || lock=$?
  case $lock in
    0 | 99) ;;
    *) say "'$root' can't be locked, for it lies on a file system or a machine without locks ($lock); going on" ;;
  esac
  if [ "$lock" = 99 ] || agent_runs "$root/$node.pid"; then # nothing to do
    [ -z "$guard" ] || kill -KILL "$guard"
    exit 0
  fi
  # shellcheck disable=SC2064 # as they are now
  trap "clean_node $(printf %q "$root") $node $guard" EXIT
  address=$(node_address)
  [ -n "$address" ] || exit 5
  export PILOT_AGENT_OF=$pilot_id PILOT_TOPOLOGY
  PILOT_TOPOLOGY=$(topology_here)
  keep_agent_running "$root/$node.pid" "$pilot_agent" node --pilot-dir "$pilot_dir" --allocation "$allocation" \
    --rank "$rank" --node "$node" --address "$address" --cores "${cores_wanted:-$(cores_here)}" \
    --memory "$(memory_here "$rank")" --scratch "$root/$node"
  exit "$?"
}

clean_node() {
  trap '' TERM INT # what cleans up shall not die of it
  rm -f "$1/$2.pid" "$1/$2.lock"
  rmdir "$1" 2>/dev/null # others of this pilot may be here
  [ -z "${3:-}" ] || kill -KILL "$3"
}

# Outlives this node's script if that is killed.  Such systems end the sessions of tasks, and services have sessions
# of their own: what is left when the job's TMPDIR has gone is ended.
guard_node() {
  local entry
  trap '' TERM INT HUP USR1 USR2
  exec 8<> <(:)
  while [ -d "$TMPDIR" ]; do read -r -t 2 -u 8 || :; done
  for entry in /proc/[0-9]*; do
    [ "$(tr '\0' '\n' 2>/dev/null <"$entry/environ" | grep -cxF -e "PILOT_AGENT_OF=$pilot_id" -e "TMPDIR=$TMPDIR")" != 2 ] ||
      kill -KILL "${entry#/proc/}"
  done
}

# agent_runs PIDFILE: it may have outlived the script that kept it running.
agent_runs() {
  local pid
  pid=$(cat "$1" 2>/dev/null) || return 1
  grep -qzxF "PILOT_AGENT_OF=$pilot_id" "/proc/$pid/environ" 2>/dev/null
}

# keep_agent_running PIDFILE COMMAND...: again after a crash, not after it has ended by itself.  Shares
# `agent` and `told` with its caller's trap.
keep_agent_running() {
  local file=$1 code=0 delay=1 begun
  shift
  while :; do
    [ -z "$told" ] || return 143
    begun=$SECONDS
    "$@" 9>&- &
    agent=$!
    [ -z "$told" ] || kill -TERM "$agent"
    echo "$agent" >"$file"
    wait "$agent"
    code=$?
    while kill -0 "$agent" 2>/dev/null; do # a signal has interrupted the waiting
      wait "$agent"
      code=$?
    done
    if [ -n "$told" ] || [ "$code" -lt 128 ] || [ "$code" -eq 140 ]; then return "$code"; fi # 140: end_node's USR2
    [ $((SECONDS - begun)) -lt 60 ] || delay=1 # it had run well
    say "the agent was killed by signal $((code - 128)); it is started again in $delay s"
    sleep "$delay"
    delay=$((delay < 30 ? delay * 2 : 30))
  done
}

# The rank that this node had when the job began; ranks of tasks shift when nodes before it are given back.
first_rank() {
  local rank
  rank=$(listed_rank)
  echo "${rank:-$(node_rank)}"
}

listed_rank() {
  local name
  name=$(node_name)
  awk -v name="${name%%.*}" '{sub("[.].*", "")} $0 == name {print NR - 1; exit}' "$pilot_dir/allocations/$allocation.nodes"
}

# Tells this node's agent that the job is about to end.  There is time to stop services in order; TERM means seconds.
end_node() {
  # shellcheck source=/dev/null
  [ -z "$carries_environment" ] || . "$pilot_dir/allocations/$allocation.env" # scratch may be named by it
  local root file own pid
  root=$(scratch_root) || return 0
  own=$root/node-$(($1 + first_node)).pid
  for file in "$root"/node-*.pid; do
    pid=$(cat "$file" 2>/dev/null) || continue
    if [ "$file" = "$own" ] || has_joined "$pid"; then kill -USR2 "$pid"; fi
  done
}

# has_joined PID: the agent of a node that this job has gained.
has_joined() {
  local name
  name=$(tr '\0' '\n' 2>/dev/null <"/proc/$1/cmdline" | sed -n '/^--allocation$/{n;p;}')
  [ -n "$name" ] && grep -qx "joins_job=$job_id" "$pilot_dir/allocations/$name.sh" 2>/dev/null
}

# ---- the job ----------------------------------------------------------------------------------------------

# write_down FILE COMMAND...: its output becomes the file, all of it at once.
write_down() {
  local file=$1
  shift
  "$@" >"$file.new" && mv "$file.new" "$file"
}

# What the job was given and a system's launcher does not pass on; what belongs to one host stays there.
environment() {
  local name
  compgen -e | while read -r name; do stays_here "$name" || declare -p "$name"; done
  declare -Fx | while read -r _ _ name; do declare -f "$name" && echo "export -f $name"; done
}

# take_environment: that of who submitted the job, then that of the job; files, since systems show it to others.
take_environment() {
  local file=allocations/$allocation.env
  # shellcheck source=/dev/null
  [ ! -f "$file" ] || . "./$file"
  write_down "$file" environment
}

# Finds out whether the nodes have one TMPDIR: a mark of this one is seen on another.
look_at_tmpdir() {
  [ -n "${TMPDIR:-}" ] || return 0
  rm -f "allocations/$allocation.shared"
  node_name >"$TMPDIR/.pilot-$allocation" && also_on_each_node /bin/bash "$script" look
  rm -f "$TMPDIR/.pilot-$allocation"
  [ ! -e "allocations/$allocation.shared" ] || say "all nodes have the same TMPDIR, '$TMPDIR': it is not used"
}

# Runs on each node.
look_for_mark() {
  local mark=${TMPDIR:-/nowhere}/.pilot-$allocation
  [ ! -e "$mark" ] || [ "$(cat "$mark")" = "$(node_name)" ] || : >"$pilot_dir/allocations/$allocation.shared"
}

seconds_up() {
  local up
  read -r up _ </proc/uptime
  echo "${up%.*}"
}

# countdown SECONDS: of this job's own time, which stands still while the system has suspended it.
countdown() {
  local left=$1 before now gap step=10
  before=$(seconds_up)
  while [ "$left" -gt 0 ]; do
    sleep "$((left < step ? left : step))" &
    wait "$!"
    now=$(seconds_up)
    gap=$((now - before))
    before=$now
    left=$((left - (gap > 3 * step ? step : gap)))
  done
}

run_job() {
  local cause='end' launcher code timer=''
  cd "$pilot_dir" || exit 1
  umask 077
  [ -z "$writes_own_output" ] || exec >>"logs/$allocation.log" 2>&1
  # Its nodes may be others now, and what ran and lay there is gone: the pilot does without, or is over.
  if [ -e "allocations/$allocation.nodes" ]; then
    say "job $job_id was requeued; a pilot is not continued by a job that starts anew"
    write_down "allocations/$allocation.exit" echo "$job_id 1 $(date +%s) requeued"
    exit 1
  fi
  [ -z "$carries_environment" ] || take_environment
  rm -f "allocations/$allocation.exit"
  write_down "allocations/$allocation.nodes" list_nodes || exit 1
  write_down "allocations/$allocation.memory" node_memory
  [ -z "$removes_tmpdir" ] || look_at_tmpdir
  trap 'cause="told to end"' TERM INT
  trap 'cause="time"; also_on_each_node /bin/bash "$script" end & ' USR1
  { # a signal to everything must not end this shell before what it waits for
    trap : TERM INT
    on_each_node /bin/bash "$script" node
  } &
  launcher=$!
  if [ -n "$warning_after" ]; then
    (
      trap 'kill "$!" 2>/dev/null; exit' TERM
      countdown "$warning_after"
      kill -USR1 $$
    ) &
    timer=$!
  fi
  wait "$launcher"
  code=$?
  while kill -0 "$launcher" 2>/dev/null; do
    wait "$launcher"
    code=$?
  done
  [ -z "$timer" ] || kill "$timer" 2>/dev/null
  rm -f "allocations/$allocation.env" # it may hold secrets
  write_down "allocations/$allocation.exit" echo "$job_id $code $(date +%s) $cause"
  exit "$code"
}

case ${1:-} in
  leave) also_on_each_node /bin/bash "$script" end ;;
  node) run_node "${2:-$(first_rank)}" ;;
  look) look_for_mark ;;
  guard) guard_node ;;
  end) end_node "${2:-$(first_rank)}" ;;
  *) run_job ;;
esac
