#!/usr/bin/env bash
# A minute of the soak on this machine: random growth, shrinking, kills and pauses, every message counted.
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
. "$source_folder/tests/e2e/lib.sh"

[ -n "${PILOT_SOAK:-}" ] || skip "what happens is drawn at random, so it is run on purpose: PILOT_SOAK=1, or scripts/soak"
programs=$(dirname "$(readlink -f "$(command -v pilot)")")
check "a minute passes" "$source_folder/scripts/soak" --minutes 1 --prefix "$(dirname "$programs")"
