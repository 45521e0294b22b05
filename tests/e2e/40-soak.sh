#!/usr/bin/env bash
# A minute of the soak on this machine: growth, shrinking, kills and pauses, every message counted.  The choices
# are the same each time, growth and shrinking among them; SOAK_SEED makes others, and scripts/soak makes it longer.
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
. "$source_folder/tests/e2e/lib.sh"

programs=$(dirname "$(readlink -f "$(command -v pilot)")")
check "a minute passes" "$source_folder/scripts/soak" --minutes 1 --seed "${SOAK_SEED:-2715}" --prefix "$(dirname "$programs")"
