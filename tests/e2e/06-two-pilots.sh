#!/usr/bin/env bash
# Two pilots of one user at once don't meet: addresses, ports, secrets, folders; stopping one leaves the other.
. "$(dirname "$0")/lib.sh"

pilot start one --nodes 2 --framework kafka >one.log 2>&1 &
first=$!
check "two start at the same time" pilot start two --nodes 2 --framework kafka
check "and the other one" wait "$first"
refuses 2 "the name 'one' is in use" pilot start one --nodes 1
check "their addresses differ" test -z "$(comm -12 <(pilot status one --json | json "'\n'.join(sorted(n['address'] for n in d['nodes']))") \
  <(pilot status two --json | json "'\n'.join(sorted(n['address'] for n in d['nodes']))"))"
eval "$(pilot env one)"
one_config=$PILOT_KAFKA_CONFIG one_servers=$KAFKA_BOOTSTRAP_SERVERS
eval "$(pilot env two)"
check "one's secret opens one" pilot-kafka topic list --config "$one_config"
sed "s/^bootstrap.servers=.*/bootstrap.servers=$one_servers/" "$PILOT_KAFKA_CONFIG" >mixed.properties
if pilot-kafka topic list --config mixed.properties 2>refused; then fail "two's secret opens one"; fi
check "two's secret is refused by one" grep -qiE "invalid username|authentication" refused
check "one stops" pilot stop one
check "two goes on" is_ready two
check "two stops" pilot stop two
check "nothing is left" nothing_left
