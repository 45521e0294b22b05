#!/bin/bash
# One controller and one broker as Kafka's own scripts start them, for comparison.
#
#   KAFKA=DIR WORK=DIR stock.sh start    formats, starts both, returns when the broker answers Metadata
#   KAFKA=DIR WORK=DIR stock.sh stop
#
# JVM flags, heap sizes and logging are those of bin/kafka-storage.sh, kafka-server-start.sh and
# kafka-run-class.sh of 4.3 (jars installed by Maven come without these scripts).  In favour of this side:
# no security, no second JVM for a random cluster id, both servers started at once, and the same native
# probe as ours, where the scripts would start a JVM per attempt.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
java=${JAVA_HOME:+$JAVA_HOME/bin/}java

free_port() {
  local port
  while :; do
    port=$((10000 + RANDOM % 10000))
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
  done
}

run_class() {  # name of the log, heap flags, class, arguments...
  local name=$1 heap=$2
  shift 2
  # shellcheck disable=SC2086  # the flags are words
  exec "$java" $heap -server -XX:+UseG1GC -XX:MaxGCPauseMillis=20 -XX:InitiatingHeapOccupancyPercent=35 \
    -XX:+ExplicitGCInvokesConcurrent -Djava.awt.headless=true -Djava.io.tmpdir="$WORK" \
    -Xlog:gc*:file="$WORK/$name-gc.log":time,tags:filecount=10,filesize=100M \
    -Dcom.sun.management.jmxremote=true -Dcom.sun.management.jmxremote.authenticate=false \
    -Dcom.sun.management.jmxremote.ssl=false \
    -Dkafka.logs.dir="$WORK" -Dlog4j2.configurationFile="$here/stock-log4j2.properties" -cp "$KAFKA/libs/*" "$@"
}

properties() {  # role, id, listener, port
  printf '%s\n' "process.roles=$1" "node.id=$2" "listeners=$3://127.0.0.1:$4" "advertised.listeners=$3://127.0.0.1:$4" \
    controller.listener.names=CONTROLLER "controller.quorum.bootstrap.servers=127.0.0.1:$controller_port" \
    "log.dirs=$WORK/$1" num.network.threads=3 num.io.threads=8 offsets.topic.replication.factor=1 \
    transaction.state.log.replication.factor=1 transaction.state.log.min.isr=1
}

start() {
  mkdir -p "$WORK"
  controller_port=$(free_port)
  local client_port cluster
  client_port=$(free_port)
  cluster=$(head -c 16 /dev/urandom | base64 | tr '+' A | tr '/' A | cut -c 1-22)
  properties controller 100 CONTROLLER "$controller_port" >"$WORK/controller.properties"
  properties broker 1 PLAINTEXT "$client_port" >"$WORK/broker.properties"
  echo "bootstrap.servers=127.0.0.1:$client_port" >"$WORK/client.properties"
  (run_class storage -Xmx256M kafka.tools.StorageTool format --cluster-id "$cluster" --standalone \
    --config "$WORK/controller.properties") >"$WORK/format.log" 2>&1
  (run_class storage -Xmx256M kafka.tools.StorageTool format --cluster-id "$cluster" \
    --config "$WORK/broker.properties") >>"$WORK/format.log" 2>&1
  run_class controller '-Xmx1G -Xms1G' kafka.Kafka "$WORK/controller.properties" >"$WORK/controller.log" 2>&1 &
  echo $! >"$WORK/controller.pid"
  run_class broker '-Xmx1G -Xms1G' kafka.Kafka "$WORK/broker.properties" >"$WORK/broker.log" 2>&1 &
  echo $! >"$WORK/broker.pid"
  pilot-kafka ready --config "$WORK/client.properties" --broker "127.0.0.1:$client_port" --id 1 --timeout 120s >"$WORK/ready.json"
}

stop() {
  local name pid
  for name in broker controller; do
    [ -s "$WORK/$name.pid" ] || continue
    pid=$(cat "$WORK/$name.pid")
    # Ours only: a pid may have been given to somebody else.
    tr '\0' '\n' <"/proc/$pid/cmdline" 2>/dev/null | grep -qxF "$WORK/$name.properties" || continue
    kill -TERM "$pid"
    tail --pid="$pid" -f /dev/null
  done
}

case ${1:-} in
  start) start ;;
  stop) stop ;;
  *) echo "usage: KAFKA=DIR WORK=DIR $0 start|stop" >&2 && exit 2 ;;
esac
