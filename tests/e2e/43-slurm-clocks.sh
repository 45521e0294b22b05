#!/usr/bin/env bash
# The clocks of the nodes are half an hour apart, and so is that of the node to which the head agent moves: that is
# shown, and nothing ends too early or too late by it, nor is a message lost.
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
. "$source_folder/tests/e2e/lib.sh"
. "$source_folder/tests/e2e/slurm.sh"
command -v cc >/dev/null || skip "there is no C compiler"

# A wall clock that is set apart, and nothing else: intervals and the times of files are everybody's.
cat >shift.c <<'END'
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static long shift;
__attribute__((constructor)) static void begin(void) { shift = atol(getenv("CLOCK_SHIFT") ? getenv("CLOCK_SHIFT") : "0"); }
int clock_gettime(clockid_t id, struct timespec* at) {
  const int code = (int)syscall(SYS_clock_gettime, id, at);
  if (code == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) at->tv_sec += shift;
  return code;
}
int gettimeofday(struct timeval* at, void* zone) {
  (void)zone;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  at->tv_sec = now.tv_sec, at->tv_usec = now.tv_nsec / 1000;
  return 0;
}
time_t time(time_t* to) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (to) *to = now.tv_sec;
  return now.tv_sec;
}
END
check "a clock can be set apart" cc -O1 -shared -fPIC -o shift.so shift.c
check "by an hour" test $(($(CLOCK_SHIFT=3600 LD_PRELOAD=$WORK/shift.so date +%s) - $(date +%s))) -gt 3500

start_cluster 4
lines="case \$(hostname) in node02) CLOCK_SHIFT=1800 ;; node03) CLOCK_SHIFT=-1800 ;; *) CLOCK_SHIFT= ;; esac
[ -z \"\$CLOCK_SHIFT\" ] || export CLOCK_SHIFT LD_PRELOAD=$WORK/shift.so"
# off NODE SECONDS: about so much (a busy machine's messages are late)
off() { [ "$(status_of demo "[abs(n['clock_ahead_s'] - ($2)) <= 15 for n in d['nodes'] if n['id'] == '$1'][0]" 2>/dev/null)" = True ]; }
reason_of() { status_of demo "[n['reason'] for n in d['nodes'] if n['id'] == '$1'][0]"; }
says() { grep -qF "$1" <(pilot events demo); }

check "a pilot starts" pilot start demo --resource slurm -N 3 -t 20m --framework kafka --option kafka.controllers=3 \
  --batch "prologue=$lines"
check "a clock is half an hour ahead" off node-2 1800
check "which is shown" grep -qE "^its clock is (30m|29m5).*s ahead of that of the head's node" <(reason_of node-2)
check "and one behind" off node-3 -1800
begin_source 1500 # until after the extension is given back
begun=$SECONDS
check "a node comes for three minutes" pilot extend demo -N 1 -t 3m

check "the head's host crashes" "$cluster" crash node01
check "a head is recovered" pilot recover demo --timeout 2m
check "where it is half an hour later" test "$(status_of demo "d['head']['node']")" = node-2
within 20 "the clocks are compared with its own" off node-3 -3600
given_back() { [ "$(status_of demo "d['allocations'][1]['state']")" = ended ]; }
check "nothing ends yet" test "$(status_of demo "d['state'] in ('ready', 'degraded') and d['allocations'][1]['state']")" = running
within 200 "the extension is given back by itself" given_back
# Its job began after that, and at least half of its time it is used.
check "near its end" test $((SECONDS - begun)) -ge 60
said_of_it() {
  pilot events demo | sed -n '/a1\|being given back/s/^[^ ]* *//p' | tail -n 3 | tr '\n' '|' | tail -c 150
}
check "and for that reason: $(said_of_it)" says 'the time of a1 is over in'
check_source 1500
check "the host comes back" "$cluster" boot node01
refuses 6 "not all of its nodes could be reached: node01:" pilot stop demo
check "nothing is left" nothing_on_hosts
