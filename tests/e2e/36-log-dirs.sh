#!/usr/bin/env bash
# Brokers with two data folders: Kafka fills one of them, a rebalance evens out their bytes while messages flow,
# killed midway and gone on with; a new broker's folders are filled evenly.  Nothing lost, no throttle left.
. "$(dirname "$0")/lib.sh"

mkdir one two
check "a pilot with two data folders starts" pilot start demo --nodes 2 --framework kafka --option "kafka.data=$WORK/one,$WORK/two"
config=$PILOT_HOME/pilots/demo/client/client.librdkafka.properties
tool() { local verb=$1; shift; pilot-kafka "$verb" "$@" --config "$config"; }
last_event() { tail -n 1 "$1" | json "d$2"; }
copying() { grep -q '"moved_bytes": [1-9]' "$1"; }
# 40 messages, 2 MB.
send() {
  miniapp source light --pilot demo --topic "$1" --no-create --phantom shepp-logan --size 256 --angles 48 --slices 40 \
    --rate "$2" --count 40 --progress none --json
}
# bytes BROKER FOLDER: of its log files; what only waits to be deleted does not count.
bytes() {
  { find "$WORK/$2" -path "*/broker-$1/*" -name '*.log' ! -path '*-delete/*' -printf '%s\n' 2>/dev/null || true; } |
    awk '{ sum += $1 } END { print sum + 0 }'
}
difference() { echo $(($(bytes "$1" one) - $(bytes "$1" two))) | tr -d -; }
sum() { echo $(($(bytes "$1" one) + $(bytes "$1" two))); }
# Who hears of two topics at once makes them in any order.
both_have() { [ "$(find "$WORK/one" "$WORK/two" -type d -name "$1-0" | wc -l)" = 2 ]; }
# even BROKER: they differ by at most 20 % of what each has on average.
even() { [ $(($(difference "$1") * 10)) -le "$(sum "$1")" ]; }
uneven() { ! even "$1"; }

# Six, for three of them change their folder on each broker, and Kafka copies two at a time, each of this size in
# one go: the third one waits for the throttle.
# Kafka goes by the number of partitions: what is made in turn goes into the one folder and into the other.  Of folders
# that have as many it takes any, so that one or another of them may be elsewhere.
for i in 1 2 3 4 5 6; do
  tool topic create "scans$i" --partitions 1 --replicas 2 >/dev/null
  within 20 "both brokers have it" both_have "scans$i"
  tool topic create "empty$i" --partitions 1 --replicas 2 >/dev/null
  within 20 "both brokers have it" both_have "empty$i"
  check "40 messages are acknowledged" test "$(send "scans$i" max | json "d['acked']")" = 40
done
for broker in 1 2; do
  check "broker $broker has more in one folder than in the other" uneven "$broker"
done

for i in 1 2 3 4 5 6; do
  send "scans$i" 2/s >"source$i.json" 2>"source$i.err" &
  sources="${sources:-} $!"
done
pilot-kafka rebalance --config "$config" --throttle 100kB/s --json >first.out 2>first.err &
first=$!
within 30 "replicas change their folder" copying first.out
kill -9 "$first"
wait "$first" 2>/dev/null || true
check "a second run goes on" tool rebalance --throttle 4MB/s --json >second.out 2>second.err
check "it took over what was under way" grep -q "are on their way already" second.err
check "it removed the throttles of the first" test "$(last_event second.out "['throttles_removed']")" -ge 1
for broker in 1 2; do
  within 10 "the folders of broker $broker are even" even "$broker"
  check "as it said" test "$(last_event second.out "['bytes_by_folder']['$broker'].values().__len__()")" = 2
done

# shellcheck disable=SC2086  # several words
check "the sources end" wait $sources
check "with every message acknowledged" test "$(cat source?.json | tr -d '\n' | grep -o '"acked": *40\b' | wc -l)" = 6
check "another run finds nothing to do" tool rebalance --json >third.out 2>third.err
check "no move" test "$(last_event third.out "['moves']")" = 0
check "no throttle" test "$(last_event third.out "['throttles_removed']")" = 0

check "a node comes" pilot extend demo -N 1
check "its broker has data" test "$(sum 3)" -gt 4000000
largest=$(find "$WORK"/one "$WORK"/two -name '*.log' -printf '%s\n' | sort -n | tail -1)
check "its folders differ by less than one replica" test "$(difference 3)" -le "$largest"
check "where they came to, without another copy" test "$(grep -c "replaced with the future replica" "$PILOT_HOME/pilots/demo/logs/kafka/broker-3.log")" = 0
check "the next run leaves all as it is" tool rebalance --json >fourth.out 2>fourth.err
check "without a throttle" test "$(last_event fourth.out "['throttles_removed']")" = 0

read_all() {
  miniapp process gridrec --pilot demo --topic "$1" --output "$1" --group "$1" --count 80 --progress none --json |
    json "(d['messages'], d['duplicates'])"
}
for i in 1 2 3 4 5 6; do check "all 80 messages are there, once" test "$(read_all "scans$i")" = "(80, 0)"; done
check "it stops" pilot stop demo
check "nothing is left" nothing_left
