#!/usr/bin/env bash
# A pilot whose machine was rebooted says so, and stop cleans up.  (The log is made to come from another boot.)
. "$(dirname "$0")/lib.sh"

check "a pilot starts" pilot start demo --nodes 1 --framework kafka
agents="$(pid_of demo head) $(pid_of demo node-1)"
services="$(pid_of demo kafka/broker-1) $(pid_of demo kafka/controller-1)"
# shellcheck disable=SC2086
kill -STOP $agents
# shellcheck disable=SC2086
kill -9 $services $agents
boot=$(cat /proc/sys/kernel/random/boot_id)
other=00000000-0000-0000-0000-000000000000
find "$PILOT_HOME/pilots/demo" -type f \( -name '*.json' -o -name '*.jsonl' \) -exec sed -i "s/$boot/$other/g" {} +
pilot status demo >status.txt 2>status.err || true
check "status says it" grep -qi "rebooted" status.txt status.err
check "list says it" grep -qi "rebooted" <(pilot list 2>&1)
check "stop cleans up" pilot stop demo
check "nothing is left" nothing_left
refuses 3 "there is no pilot 'demo'" pilot status demo
