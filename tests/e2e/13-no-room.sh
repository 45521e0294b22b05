#!/usr/bin/env bash
# A full or read-only home, and a user who may not write: refused before anything runs, naming the folder.
. "$(dirname "$0")/lib.sh"

[ "$(id -u)" -eq 0 ] || skip "mounting a small file system takes root"
mkdir small
mount -t tmpfs -o size=16k tmpfs small || skip "tmpfs can't be mounted here"
refused=0
PILOT_HOME=$WORK/small/home pilot start demo --nodes 3 --framework kafka >out 2>err || refused=$?
umount small
check "a full file system is refused" test "$refused" -eq 1
check "with the reason" grep -q "No space left on device" err
check "and the place" grep -q "$WORK/small" err

mkdir locked && chmod 755 locked
installed=$(pilot frameworks list --json | json "[f['software']['home'] for f in d['frameworks'] if f['name'] == 'kafka'][0]")
user() { setpriv --reuid 65534 --regid 65534 --clear-groups env KAFKA_HOME="$installed" PILOT_HOME="$WORK/locked/home" HOME="$WORK/locked" "$@"; }
if user test -r "$installed/libs"; then
  refuses 1 "Permission denied" user "$(command -v pilot)" start demo --nodes 1 --framework kafka
else
  refuses 1 "Permission denied" user "$(command -v pilot)" start demo --nodes 1
fi
check "nothing is left" nothing_left
