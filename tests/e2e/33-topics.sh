#!/usr/bin/env bash
# Topics by `pilot topic`: made, grown, shown, and what is refused, with its remedy.
. "$(dirname "$0")/lib.sh"

refuses 3 "" pilot topic list nosuch
check "a pilot of three nodes starts" pilot start demo --nodes 3 --framework kafka
check "a topic is made" pilot topic create demo frames --partitions 4 --replicas 2 --set retention.ms=3600000 --json >made.json
check "as it was asked for" test "$(json "(d['schema'], d['created'], len(d['topic']['partitions']), d['topic']['replicas'])" <made.json)" = \
  "('pilot.topic/1', True, 4, 2)"
keys() { json "' '.join(sorted(d$1))"; }
check "with frozen fields" test "$(keys '' <made.json)" = "caution created framework grown_from pilot schema topic"
check "also of the topic" test "$(keys "['topic']" <made.json)" = "bytes_by_broker internal leaderless name partitions replicas under_replicated"
check "and of its partitions" test "$(keys "['topic']['partitions'][0]" <made.json)" = "id in_sync leader replicas"
check "each has a leader" test "$(json "all(p['leader'] for p in d['topic']['partitions'])" <made.json)" = True

refuses 1 "already exists" pilot topic create demo frames
grep -q -- "--if-absent takes one that is there for success" "$WORK/refused.err" || fail "no remedy: $(cat "$WORK/refused.err")"
check "one that is there can be success" pilot topic create demo frames --if-absent
refuses 2 "target replication factor of 4 cannot be reached because only 3 broker(s) are registered" pilot topic create demo wide --replicas 4
grep -q "'pilot extend' brings more" "$WORK/refused.err" || fail "no remedy: $(cat "$WORK/refused.err")"
refuses 2 "can't be '0'" pilot topic create demo none --partitions 0
refuses 2 "KEY=VALUE" pilot topic create demo none --set retention
refuses 2 "retention.msec" pilot topic create demo none --set retention.msec=1
refuses 2 "a/b" pilot topic create demo a/b
refuses 2 "" pilot topic create demo -- --partitions
check "nothing of these was made" test "$(pilot topic list demo --json | json "[t['name'] for t in d['topics'] if not t['internal']]")" = "['frames']"

refuses 3 "there is no topic 'frame'" pilot topic describe demo frame
grep -q "did you mean 'frames'?" "$WORK/refused.err" || fail "no suggestion: $(cat "$WORK/refused.err")"
refuses 3 "there is no topic 'x'" pilot topic grow demo x --partitions 2
refuses 2 "has 4 partitions and can't have 3" pilot topic grow demo frames --partitions 3
refuses 2 "'--partitions' is missing" pilot topic grow demo frames
check "it grows" pilot topic grow demo frames --partitions 6 2>grown.err
check "and its users are warned" grep -q "keyed messages now go to other partitions" grown.err
check "help warns as well" grep -q "are in no order with them" <(pilot topic grow --help | tr -s '\n ' ' ')
grown_already() { pilot topic grow demo frames --partitions 6 --json >again.json; } # not all brokers may know of it
within 20 "to where it is already" grown_already
check "without a caution" test "$(json "(d['caution'], d['grown_from'])" <again.json)" = "('', 6)"

miniapp source light --pilot demo --phantom shepp-logan --size 64 --angles 24 --slices 8 --rate max --count 20 --progress none --json >source.json
check "its data are counted by broker" test "$(pilot topic describe demo frames --json | json "sum(d['topic']['bytes_by_broker'].values()) > 20000 and len(d['topic']['bytes_by_broker'])")" = 3
check "the table shows it" grep -qE '^frames +6 +2 ' <(pilot topic list demo 2>/dev/null)
check "and says when nothing is missing" grep -q 'in sync$' <(pilot topic list demo 2>/dev/null)

kill -STOP "$(pid_of demo kafka/broker-3)"
lacks() { grep -qE "lack a replica in sync \(broker 3 is (down|behind)\)" <(pilot status demo); }
within 60 "a broker that hangs is told of in the status" lacks
check "and in the list of topics" grep -qE 'lack a replica in sync' <(pilot topic list demo 2>/dev/null)
kill -CONT "$(pid_of demo kafka/broker-3)"
well() { is_ready demo && [ "$(status_of demo "[c['problem'] for c in d['clusters']]")" = "['']" ]; }
within 30 "and all is well again" well

for n in 1 2 3 4; do
  pilot topic create demo "both-$n" --partitions 5 >/dev/null 2>&1 &
  check "a source takes a topic that somebody else makes just then ($n)" \
    miniapp source light --pilot demo --topic "both-$n" --phantom shepp-logan --size 64 --angles 24 --slices 8 --rate max --count 1 --progress none
  wait "$!" || true # one of them made it
done
check "the pilot stops" pilot stop demo
check "nothing is left" nothing_left
