#!/usr/bin/env bash
# A scenario from start to report: each acknowledged message is reconstructed, and nothing is left.
. "$(dirname "$0")/lib.sh"

cat >scenario.yaml <<YAML
pilot: {name: main, resource: local, nodes: 3, frameworks: [kafka]}
sources: [{light: {phantom: shepp-logan, size: 128, angles: 90, slices: 16, rate: 40/s, count: 32}}]
processors: [{gridrec: {parallelism: 2}}]
output: out
timeout: 4m
YAML
check "the scenario ends well" pilot run scenario.yaml --json >run.json
cat run.json
check "32 messages were acknowledged and 32 reconstructed" \
  test "$(json "(d['acknowledged'], d['reconstructed'])" <run.json)" = "(32, 32)"
check "there is a volume per scan" test "$(find out -name 'scan-*.h5' | wc -l)" -eq 4
check "a picture per scan" test "$(find out -name '*.png' | wc -l)" -ge 1
check "a page that stands alone" grep -q '<svg' out/report.html
check "nothing is left" nothing_left
refuses 3 "there is no pilot 'main'" pilot status main
