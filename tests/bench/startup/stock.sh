#!/bin/bash
# A controller and brokers as Kafka's own scripts start them, for comparison.
#
#   KAFKA=DIR WORK=DIR stock.sh start [BROKERS]   formats and starts all at once; returns when each broker (1) answers
#   KAFKA=DIR WORK=DIR stock.sh controller        formats and starts the controller; returns when it listens
#   KAFKA=DIR WORK=DIR stock.sh broker ID         formats and starts one broker of it; returns when it answers
#   KAFKA=DIR WORK=DIR stock.sh stop | kill       ends what was started
#
# JVM flags, heap sizes and logging are those of bin/kafka-storage.sh, kafka-server-start.sh and
# kafka-run-class.sh of 4.3 (jars installed by Maven come without these scripts).  In favour of this side:
# no security, no second JVM for a random cluster id, servers formatted and started at once (several brokers
# once the controller listens, else they would wait in their back-off), and the same native probe as ours,
# where the scripts would start a JVM per attempt.
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

properties() {  # name, role, id, listener, port
  printf '%s\n' "process.roles=$2" "node.id=$3" "listeners=$4://127.0.0.1:$5" "advertised.listeners=$4://127.0.0.1:$5" \
    controller.listener.names=CONTROLLER "controller.quorum.bootstrap.servers=127.0.0.1:$(cat "$WORK/controller.port")" \
    "log.dirs=$WORK/$1" num.network.threads=3 num.io.threads=8 offsets.topic.replication.factor=1 \
    transaction.state.log.replication.factor=1 transaction.state.log.min.isr=1 >"$WORK/$1.properties"
}

format() {  # name, more arguments of the tool...
  local name=$1
  shift
  (run_class "$name-format" -Xmx256M kafka.tools.StorageTool format --cluster-id "$(cat "$WORK/cluster")" "$@" \
    --config "$WORK/$name.properties") >"$WORK/$name-format.log" 2>&1
}

serve() {  # name
  run_class "$1" '-Xmx1G -Xms1G' kafka.Kafka "$WORK/$1.properties" >"$WORK/$1.log" 2>&1 &
  echo $! >"$WORK/$1.pid"
}

prepare_controller() {
  mkdir -p "$WORK"
  head -c 16 /dev/urandom | base64 | tr '+' A | tr '/' A | cut -c 1-22 >"$WORK/cluster"
  free_port >"$WORK/controller.port"
  properties controller controller 100 CONTROLLER "$(cat "$WORK/controller.port")"
  format controller --standalone
}

prepare_broker() {  # id
  free_port >"$WORK/broker-$1.port"
  properties "broker-$1" broker "$1" PLAINTEXT "$(cat "$WORK/broker-$1.port")"
  format "broker-$1"
}

answers() {  # id
  local address
  address=127.0.0.1:$(cat "$WORK/broker-$1.port")
  echo "bootstrap.servers=$address" >"$WORK/client-$1.properties"
  pilot-kafka ready --config "$WORK/client-$1.properties" --broker "$address" --id "$1" --timeout 120s >"$WORK/ready-$1.json"
}

start() {  # number of brokers
  local id
  prepare_controller
  for id in $(seq "$1"); do prepare_broker "$id" & done
  wait
  serve controller
  [ "$1" = 1 ] || listens
  for id in $(seq "$1"); do serve "broker-$id"; done
  for id in $(seq "$1"); do answers "$id"; done
}

listens() {
  until (exec 3<>"/dev/tcp/127.0.0.1/$(cat "$WORK/controller.port")") 2>/dev/null; do sleep 0.02; done
}

start_controller() {
  prepare_controller
  serve controller
  listens
}

start_broker() {  # id
  prepare_broker "$1"
  serve "broker-$1"
  answers "$1"
}

stop() {
  local file pid
  for file in "$WORK"/broker-*.pid "$WORK"/controller.pid; do
    [ -s "$file" ] || continue
    pid=$(cat "$file")
    # Ours only: a pid may have been given to somebody else.
    grep -qzxF "${file%.pid}.properties" "/proc/$pid/cmdline" 2>/dev/null || continue
    kill "-$1" "$pid"
    tail --pid="$pid" -f /dev/null
  done
}

case ${1:-} in
  start) start "${2:-1}" ;;
  controller) start_controller ;;
  broker) start_broker "$2" ;;
  stop) stop TERM ;;
  kill) stop KILL ;;
  *) sed -n 's/^#   //p' "$0" >&2 && exit 2 ;;
esac
