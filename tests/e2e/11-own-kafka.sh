#!/usr/bin/env bash
# KAFKA_HOME: a copy of the user's own is used as it is, and nothing is written into it.
. "$(dirname "$0")/lib.sh"

installed=$(pilot frameworks list --json | json "[f['software']['home'] for f in d['frameworks'] if f['name'] == 'kafka'][0]")
mkdir -p kafka/libs
ln -s "$installed"/libs/*.jar kafka/libs/
export KAFKA_HOME=$WORK/kafka
check "it is recognised" test "$(pilot frameworks list --json | json "[f['software']['home'] for f in d['frameworks']][0]")" = "$KAFKA_HOME"
before=$(find kafka | sort | sha256sum)
check "a pilot starts with it" pilot start own --nodes 1 --framework kafka
check "the broker runs it" grep -q "$KAFKA_HOME" "/proc/$(pid_of own kafka/broker-1)/cmdline"
check "a scan goes through" miniapp source light --pilot own --phantom disc --size 64 --angles 32 --slices 8 --progress none --json >source.json
check "it stops" pilot stop own
check "nothing was written into it" test "$(find kafka | sort | sha256sum)" = "$before"
check "nothing is left" nothing_left

export KAFKA_HOME=$WORK/tmp
refuses 3 "KAFKA_HOME" pilot start own --nodes 1 --framework kafka
