#!/usr/bin/env bash
# Nodes come and go while data flow, and not one message is lost; a killed head goes on with the change.
. "$(dirname "$0")/lib.sh"

check "a pilot of two nodes starts" pilot start demo --nodes 2 --framework kafka
miniapp source light --pilot demo --phantom shepp-logan --size 64 --angles 48 --slices 8 --rate 20/s --count 800 \
  --progress none --json >source.json 2>source.err &
source=$!
within 30 "data flow" data_flow demo
miniapp process gridrec --pilot demo --output out --count 800 --progress none --json >process.json 2>process.err &
processor=$!

refuses 2 "--throttle can't be 'fast'" pilot extend demo -N 1 --throttle fast
check "two more nodes come" pilot extend demo -N 2 --throttle 40MB/s
check "their data move no faster than was wished" grep -qF '"--throttle","40MB/s"' "$PILOT_HOME/pilots/demo/events.jsonl"
check "with a broker each" test "$(status_of demo "sum(s['role'] == 'broker' and s['state'] == 'ready' for s in d['services'])")" = 4
holders() { pilot-kafka topic describe frames --config "$PILOT_HOME/pilots/demo/client/client.librdkafka.properties" |
  json "' '.join(sorted({str(r) for p in d['topic']['partitions'] for r in p['replicas']}))"; }
check "which hold partitions" test "$(holders)" = "1 2 3 4"

refuses 2 "the head agent runs on node-1" pilot shrink demo --node node-1
refuses 2 "4 nodes can't be given back, 2 can" pilot shrink demo -N 4
refuses 2 "is no number of nodes" pilot extend demo -N 0
refuses 3 "there is no pilot 'dmeo'" pilot extend dmeo -N 1

pilot shrink demo --allocation a1 --no-wait
head=$(pid_of demo head)
kill -9 "$head"
given_back() { [ "$(status_of demo "' '.join(sorted(n['id'] for n in d['nodes'] if n['state'] == 'up'))")" = "node-1 node-2" ]; }
within 120 "both are given back although the head was killed" given_back
allocation_over() { [ "$(status_of demo "d['allocations'][1]['state']")" = ended ]; }
within 30 "their allocation is over" allocation_over
within 30 "the pilot is ready" is_ready demo
check "partitions are where they were" test "$(holders)" = "1 2"

acknowledged() { wait "$source" || { cat source.err >&3; return 1; }; }
check "the source got every message acknowledged" acknowledged
check "800 of them" test "$(json "d['acked']" <source.json)" = 800
reconstructed() { wait "$processor" || { cat process.err >&3; return 1; }; }
check "all are reconstructed" reconstructed
check "each once" test "$(json "d['stored']" <process.json)" = 800
check "it stops" pilot stop demo
check "nothing is left" nothing_left
