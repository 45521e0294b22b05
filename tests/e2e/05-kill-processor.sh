#!/usr/bin/env bash
# A processor killed in the middle, again and again, while data flows gives, bit by bit, what an undisturbed
# one gives.
. "$(dirname "$0")/lib.sh"

# A killed member is missed after its session's 10 s, so the data flow for longer than three of those.

check "a pilot starts" pilot start demo --nodes 1 --framework kafka
miniapp source light --pilot demo --phantom shepp-logan --size 256 --angles 180 --slices 32 --scans 12 --seed 5 --rate 4/s \
  --progress none --json >source.json &
source=$!
within 30 "data flow" data_flow demo

# some_done FILE: the processor that reports into FILE has stored some blocks by now.
some_done() { grep -qE '"messages": ?[1-9]' "$1"; }
for round in 1 2 3; do
  miniapp process gridrec --pilot demo --group disturbed --output disturbed --parallelism 2 --progress json >/dev/null 2>"progress-$round" &
  processor=$!
  within 60 "the processor of round $round is in the middle" some_done "progress-$round"
  kill -9 "$processor"
  wait "$processor" 2>/dev/null || true
done
check "a processor that goes on" miniapp process gridrec --pilot demo --group disturbed --output disturbed --parallelism 2 \
  --count 192 --progress none --json >disturbed.json
check "the source got all acknowledged" wait "$source"
check "an undisturbed processor" miniapp process gridrec --pilot demo --group calm --output calm --parallelism 2 --count 192 \
  --progress none --json >calm.json
check "one that comes when all is done ends at once" timeout 60 miniapp process gridrec --pilot demo --group calm --output calm \
  --count 192 --progress none
check "twelve volumes each" test "$(find calm -name 'scan-*.h5' | wc -l) $(find disturbed -name 'scan-*.h5' | wc -l)" = "12 12"
for volume in calm/scan-*.h5; do
  check "$(basename "$volume") is the same" cmp "$volume" "disturbed/$(basename "$volume")"
done
check "it stops" pilot stop demo
check "nothing is left" nothing_left
