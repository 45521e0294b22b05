#!/usr/bin/env bash
# security: {encrypt: true}: TLS by the pilot's own authority, on every listener.
. "$(dirname "$0")/lib.sh"

cat >spec.yaml <<YAML
name: sealed
nodes: 2
frameworks: [kafka]
security: {encrypt: true}
YAML
check "a pilot with TLS starts" pilot start -f spec.yaml
check "a scan goes through" miniapp source light --pilot sealed --phantom disc --size 64 --angles 32 --slices 8 --progress none \
  --json >source.json
check "and is reconstructed" miniapp process gridrec --pilot sealed --output out --count 4 --progress none --json >process.json
eval "$(pilot env sealed)"
check "clients are told to use TLS" grep -q 'sasl_ssl\|SASL_SSL' "$PILOT_KAFKA_CONFIG"
sed -e 's/sasl_ssl/sasl_plaintext/; s/SASL_SSL/SASL_PLAINTEXT/' -e '/^ssl\./d' "$PILOT_KAFKA_CONFIG" >plain.properties
if timeout 60 pilot-kafka topic list --config plain.properties 2>refused; then fail "a client without TLS is served"; fi
say "ok: a client without TLS is refused: $(head -1 refused)"
sed -e '/^ssl.ca/d' "$PILOT_KAFKA_CONFIG" >unknown-ca.properties
if timeout 60 pilot-kafka topic list --config unknown-ca.properties 2>refused; then fail "a client trusts an unknown authority"; fi
say "ok: a client that does not know the authority turns away: $(head -1 refused)"
check "it stops" pilot stop sealed
check "nothing is left" nothing_left
