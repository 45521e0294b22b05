#!/usr/bin/env bash
# stop works when half of it is dead already, and can be repeated.
. "$(dirname "$0")/lib.sh"

kill_all() { for p in "$@"; do kill -9 "$p"; done; }

say "--- everything of ours is dead but the services"
check "a pilot starts" pilot start demo --nodes 2 --framework kafka
# Stopped first, so that none can start another one again before it is killed itself.
agents="$(pid_of demo head) $(pid_of demo node-1) $(pid_of demo node-2)"
broker=$(pid_of demo kafka/broker-1)
# shellcheck disable=SC2086
kill -STOP $agents
# shellcheck disable=SC2086
kill_all $agents
check "services go on" runs "$broker"
check "it stops" pilot stop demo
check "the broker is gone" gone "$broker"
check "nothing is left" nothing_left
refuses 3 "there is no pilot 'demo'" pilot stop demo

say "--- every process is dead"
check "a pilot starts" pilot start demo --nodes 1 --framework kafka
agents="$(pid_of demo head) $(pid_of demo node-1)"
services="$(pid_of demo kafka/broker-1) $(pid_of demo kafka/controller-1)"
# shellcheck disable=SC2086
kill -STOP $agents
# shellcheck disable=SC2086
kill_all $services $agents
check "it stops" pilot stop demo
check "nothing is left" nothing_left

say "--- stop itself is interrupted"
check "a pilot starts" pilot start demo --nodes 1 --framework kafka
timeout --signal=KILL 0.3 pilot stop demo || true
check "a second stop goes on" pilot stop demo
check "nothing is left" nothing_left

say "--- a broker hangs"
check "a pilot starts" pilot start demo --nodes 1 --framework kafka
kill -STOP "$(pid_of demo kafka/broker-1)"
check "it stops all the same" pilot stop demo
check "nothing is left" nothing_left
