#!/bin/bash
# Starts one controller and one broker on loopback with the flags and settings the adaptor uses, lets
# clients create a topic, write and read, stops them, and keeps the classes they loaded as archives.
#   JAVA=java KAFKA=DIR OUT=DIR WORK=DIR train.sh
# Called by install.sh, which treats a failure as a warning.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
password=training-$$
controller=
broker=

say() { printf 'kafka: %s\n' "$*" >&2; }

cleanup() {
  [ -z "$broker" ] || kill -KILL "$broker" 2>/dev/null || true
  [ -z "$controller" ] || kill -KILL "$controller" 2>/dev/null || true
  rm -rf "$WORK"
}
trap cleanup EXIT

# A port of 127.0.0.1 that nobody listens on, below the range from which clients' ports are taken.
free_port() {
  local port
  while :; do
    port=$((20000 + RANDOM % 12000))
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
  done
}

# wait_for SECONDS PID COMMAND...: until the command succeeds; fails when the process ends first.
wait_for() {
  local until=$((SECONDS + $1)) pid=$2
  shift 2
  until "$@"; do
    [ $SECONDS -lt $until ] && kill -0 "$pid" 2>/dev/null || return 1
    sleep 0.1
  done
}

finished() { ! kill -0 "$1" 2>/dev/null; }

jaas="org.apache.kafka.common.security.plain.PlainLoginModule required username=\"pilot\" password=\"$password\""

server_properties() {  # role, node id, listener name, port
  cat <<X
process.roles=$1
node.id=$2
listeners=$3://127.0.0.1:$4
advertised.listeners=$3://127.0.0.1:$4
controller.listener.names=CONTROLLER
controller.quorum.bootstrap.servers=127.0.0.1:$controller_port
listener.security.protocol.map=CONTROLLER:SASL_PLAINTEXT,CLIENT:SASL_PLAINTEXT
sasl.enabled.mechanisms=PLAIN
sasl.mechanism.controller.protocol=PLAIN
listener.name.controller.sasl.enabled.mechanisms=PLAIN
listener.name.controller.plain.sasl.jaas.config=$jaas user_pilot="$password";
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:pilot
log.dirs=$WORK/$1
X
  [ "$1" = controller ] || cat <<X
inter.broker.listener.name=CLIENT
sasl.mechanism.inter.broker.protocol=PLAIN
listener.name.client.sasl.enabled.mechanisms=PLAIN
listener.name.client.plain.sasl.jaas.config=$jaas user_pilot="$password";
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
group.initial.rebalance.delay.ms=0
log.cleaner.dedupe.buffer.size=16777216
X
}

start() {  # role, flags...; sets $pid
  local role=$1
  shift
  "$JAVA" "$@" -XX:-UsePerfData -Djava.io.tmpdir="$WORK" -XX:ArchiveClassesAtExit="$OUT/$role.jsa" -Dlog4j2.configurationFile="$here/log4j2.properties" \
    -cp "$KAFKA/libs/*" kafka.Kafka "$WORK/$role.properties" >"$WORK/$role.log" 2>&1 9>&- &
  pid=$!
}

client() {
  "$JAVA" -Xmx128m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData -Djava.io.tmpdir="$WORK" \
    -Dlog4j2.configurationFile="$here/log4j2.properties" -cp "$KAFKA/libs/*" "$@" >>"$WORK/clients.log" 2>&1 9>&-
}

main() {
  rm -rf "$WORK" && mkdir -p "$WORK"
  controller_port=$(free_port)
  client_port=$(free_port)
  (umask 077 && server_properties controller 2 CONTROLLER "$controller_port" >"$WORK/controller.properties" &&
    server_properties broker 1 CLIENT "$client_port" >"$WORK/broker.properties" &&
    printf '%s\n' security.protocol=SASL_PLAINTEXT sasl.mechanism=PLAIN "sasl.jaas.config=$jaas;" >"$WORK/client.properties")
  client kafka.tools.StorageTool format --cluster-id AAAAAAAAQACAAAAAAAAAAA --standalone --config "$WORK/controller.properties"
  client kafka.tools.StorageTool format --cluster-id AAAAAAAAQACAAAAAAAAAAA --config "$WORK/broker.properties"
  start controller -Xms256m -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 && controller=$pid
  start broker -Xms512m -Xmx512m -XX:+UseG1GC && broker=$pid
  wait_for 120 "$broker" grep -q 'from RECOVERY to RUNNING' "$WORK/broker.log" || { say "the broker did not start"; tail -n 5 "$WORK/broker.log" >&2; return 1; }
  exercise || say "warning: a training client failed: $(tail -n 1 "$WORK/clients.log")"
  kill -TERM "$broker"
  wait_for 120 "$broker" finished "$broker" || finished "$broker" || { say "the broker did not stop"; return 1; }
  broker=
  kill -TERM "$controller"
  wait_for 120 "$controller" finished "$controller" || finished "$controller" || { say "the controller did not stop"; return 1; }
  controller=
  is_accepted controller && is_accepted broker
}

# A JVM says when it can't use an archive, and crashes on one that was cut off (by a full disk).
is_accepted() {
  local answer
  answer=$("$JAVA" -XX:SharedArchiveFile="$OUT/$1.jsa" -XX:-UsePerfData -cp "$KAFKA/libs/*" kafka.Kafka --version 2>&1) &&
    [[ -s $OUT/$1.jsa && $answer =~ ^[0-9] ]] && return
  say "the archive of the $1 can't be used: ${answer%%$'\n'*}"
  return 1
}

# What the first client makes a broker load.
exercise() {
  local server=127.0.0.1:$client_port config=$WORK/client.properties
  client org.apache.kafka.tools.TopicCommand --bootstrap-server "$server" --command-config "$config" --create --topic training --partitions 2
  client org.apache.kafka.tools.ProducerPerformance --topic training --num-records 20 --record-size 100000 --throughput -1 \
    --bootstrap-server "$server" --command-config "$config"
  client org.apache.kafka.tools.consumer.ConsoleConsumer --bootstrap-server "$server" --command-config "$config" --topic training \
    --group training --from-beginning --max-messages 20 --timeout-ms 20000
}

main
