#!/usr/bin/env bash
# A processor killed in the middle and started again gives, bit by bit, what an undisturbed one gives.
. "$(dirname "$0")/lib.sh"

check "a pilot starts" pilot start demo --nodes 1 --framework kafka
check "four scans are sent" miniapp source light --pilot demo --phantom shepp-logan --size 256 --angles 180 --slices 32 \
  --scans 4 --seed 5 --progress none --json >source.json
check "an undisturbed processor" miniapp process gridrec --pilot demo --group calm --output calm --parallelism 2 --count 64 \
  --progress none --json >calm.json

for round in 1 2 3; do
  miniapp process gridrec --pilot demo --group disturbed --output disturbed --parallelism 2 --count 64 --progress none \
    --json >disturbed.json 2>disturbed.err &
  processor=$!
  blocks() { [ "$(find disturbed -type f 2>/dev/null | wc -l)" -ge "$round" ]; }
  within 60 "it has begun (round $round)" blocks
  kill -9 "$processor" 2>/dev/null || true
  wait "$processor" 2>/dev/null || true
done
check "a processor that goes on" miniapp process gridrec --pilot demo --group disturbed --output disturbed --parallelism 2 \
  --until-idle 5s --progress none --json >disturbed.json
check "four volumes each" test "$(find calm -name 'scan-*.h5' | wc -l) $(find disturbed -name 'scan-*.h5' | wc -l)" = "4 4"
for volume in calm/scan-*.h5; do
  check "$(basename "$volume") is the same" cmp "$volume" "disturbed/$(basename "$volume")"
done
check "it stops" pilot stop demo
check "nothing is left" nothing_left
