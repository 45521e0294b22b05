#!/usr/bin/env bash
# A minute of the soak on this machine: random growth, shrinking, kills and pauses, every message counted.
. "$(dirname "$0")/lib.sh"
soak=$(cd "$(dirname "$0")/../.." && pwd)/scripts/soak
check "a minute passes" "$soak" --minutes 1 --prefix "$(dirname "$(dirname "$(readlink -f "$(command -v pilot)")")")"
