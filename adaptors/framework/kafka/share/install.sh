#!/bin/bash
# Installs Kafka into a folder of its own: jars at the versions pinned in pom.xml, checked, with the
# class-data archives that let a server start in half the time.
#
#   PREFIX=DIR install.sh        DIR is the target, e.g. ~/.cache/pilot/frameworks/kafka-4.3.1
#
# Progress goes to standard error, one line a step.  Interrupted or repeated, it goes on where it was:
# Maven keeps what it has downloaded, and nothing appears under its final name before it is whole.
#   DIR/libs/                        the jars; MANIFEST.sha256 lists their sums
#   DIR/template/bootstrap.checkpoint  the features of a new cluster, as StorageTool writes them
#   DIR/cds/{controller,broker}.jsa  class-data archives, made for the java in cds/java-version
#   DIR/installed.json               written last: framework, version, origin, java, time
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
minimum_java=17
started=$SECONDS

say() { printf 'kafka: %s\n' "$*" >&2; }
fail() { printf 'kafka: %s\n' "$1" >&2; [ -z "${2:-}" ] || printf '       %s\n' "$2" >&2; exit 1; }

# Sets $java and $java_version, or ends with what is missing.
find_java() {
  if [ -n "${JAVA_HOME:-}" ]; then
    java=$JAVA_HOME/bin/java
    [ -x "$java" ] || fail "JAVA_HOME is '$JAVA_HOME', but '$java' is no program" "correct or unset JAVA_HOME"
  else
    java=$(command -v java) || fail "Java is missing: Kafka needs Java $minimum_java or newer" \
      "Debian: apt-get install openjdk-17-jre-headless; a cluster: module load java; or set JAVA_HOME"
  fi
  java_version=$("$java" -version 2>&1 | sed -n 's/.* version "\([^"]*\)".*/\1/p' | head -n 1)
  local major=${java_version%%[.+-]*}
  [ "$major" != 1 ] || major=8  # "1.8.0_392"
  case $major in
    '' | *[!0-9]*) fail "'$java -version' gives no version" "is it a working Java?" ;;
  esac
  [ "$major" -ge $minimum_java ] || fail "Java is too old: '$java' is version $java_version, Kafka needs $minimum_java or newer" \
    "put a newer one first on PATH or set JAVA_HOME"
}

# What the pom pins: $1 is a property's name.
pinned() { sed -n "s:.*<$1>\(.*\)</$1>.*:\1:p" "$here/pom.xml"; }

jars_are_whole() { (cd "$1" && [ -s MANIFEST.sha256 ] && sha256sum --quiet --strict -c MANIFEST.sha256) >/dev/null 2>&1; }

fetch_jars() {
  local partial=$prefix/libs.partial
  command -v mvn >/dev/null || fail "Maven is missing: it fetches Kafka's jars" "Debian: apt-get install maven"
  say "fetching jars of Kafka $version with Maven"
  rm -rf "$partial"
  # A copy of the pom, because Maven may write beside it.
  mkdir -p "$prefix/work"
  cp "$here/pom.xml" "$prefix/work/pom.xml"
  mvn -B -q -ntp -f "$prefix/work/pom.xml" dependency:copy-dependencies -DincludeScope=runtime \
    -DoutputDirectory="$partial" >"$prefix/work/maven.log" 2>&1 || {
    grep -m 3 '^\[ERROR\]' "$prefix/work/maven.log" >&2 || tail -n 3 "$prefix/work/maven.log" >&2
    fail "Maven could not fetch Kafka's jars (all of its output: $prefix/work/maven.log)" "repeat the command: what has arrived is kept"
  }
  check_jars "$partial"
  rm -rf "$prefix/libs" "$prefix/cds" "$prefix/template"
  mv "$partial" "$prefix/libs"
  (cd "$prefix" && find libs -name '*.jar' | LC_ALL=C sort | xargs -d '\n' sha256sum >MANIFEST.partial && mv MANIFEST.partial MANIFEST.sha256)
  say "$(find "$prefix/libs" -name '*.jar' | wc -l) jars, $(du -sm "$prefix/libs" | cut -f 1) MB"
}

check_jars() {
  local jar
  for jar in "kafka_2.13-$version" "kafka-clients-$version" "kafka-server-$version" "kafka-raft-$version" \
    "kafka-tools-$version" "log4j-slf4j-impl-$(pinned log4j.version)"; do
    [ -s "$1/$jar.jar" ] || fail "Maven left no '$jar.jar'" "is a repository mirror incomplete?"
  done
  local answer
  answer=$("$java" -Xmx128m -XX:TieredStopAtLevel=1 -cp "$1/*" kafka.Kafka --version 2>/dev/null | tail -n 1) || true
  [ "${answer%% *}" = "$version" ] || fail "the jars don't run: 'kafka.Kafka --version' answered '$answer', not '$version'"
}

# The checkpoint holds the newest feature levels this version of Kafka knows; `pilot-kafka format` copies it.
make_template() {
  say "asking StorageTool for the features of a new cluster"
  local work=$prefix/work/template
  rm -rf "$work" && mkdir -p "$work/log"
  printf '%s\n' process.roles=controller node.id=1 listeners=CONTROLLER://127.0.0.1:9 \
    controller.listener.names=CONTROLLER controller.quorum.bootstrap.servers=127.0.0.1:9 "log.dirs=$work/log" >"$work/server.properties"
  "$java" -Xmx128m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Dlog4j2.configurationFile="$here/log4j2.properties" \
    -cp "$prefix/libs/*" kafka.tools.StorageTool format --cluster-id AAAAAAAAQACAAAAAAAAAAA --standalone \
    --config "$work/server.properties" >"$work/out" 2>&1 || { tail -n 3 "$work/out" >&2; fail "StorageTool could not format a folder"; }
  [ -s "$work/log/bootstrap.checkpoint" ] || fail "StorageTool wrote no bootstrap.checkpoint"
  rm -rf "$prefix/template.partial" && mkdir "$prefix/template.partial"
  cp "$work/log/bootstrap.checkpoint" "$prefix/template.partial/"
  rm -rf "$prefix/template" && mv "$prefix/template.partial" "$prefix/template"
}

archives_fit() {
  [ -s "$prefix/cds/controller.jsa" ] && [ -s "$prefix/cds/broker.jsa" ] &&
    [ "$(cat "$prefix/cds/java-version" 2>/dev/null)" = "$java $java_version" ]
}

make_archives() {
  say "making class-data archives: one controller and one broker are started once"
  rm -rf "$prefix/cds.partial" && mkdir "$prefix/cds.partial"
  if JAVA=$java KAFKA=$prefix OUT=$prefix/cds.partial WORK=$prefix/work/train bash "$here/train.sh"; then
    printf '%s %s\n' "$java" "$java_version" >"$prefix/cds.partial/java-version"
    rm -rf "$prefix/cds" && mv "$prefix/cds.partial" "$prefix/cds"
  else
    say "warning: no class-data archives; Kafka works without them, but starts slower"
    rm -rf "$prefix/cds.partial"
  fi
}

write_record() {
  local archives=false
  ! archives_fit || archives=true
  printf '{"framework": "kafka", "version": "%s", "origin": "maven: org.apache.kafka:kafka_2.13, kafka-tools", "java": "%s", "class_data_archives": %s, "installed_at": "%s"}\n' \
    "$version" "$java_version" "$archives" "$(date -u +%Y-%m-%dT%H:%M:%SZ)" >"$prefix/installed.partial"
  mv "$prefix/installed.partial" "$prefix/installed.json"
}

[ -n "${PREFIX:-}" ] || fail "PREFIX is not set" "PREFIX=DIR $0"
version=$(pinned kafka.version)
find_java
refusal=$(mkdir -p "$PREFIX" 2>&1) || fail "cannot make '$PREFIX': ${refusal##*: }" "choose another folder with --prefix"
[ -w "$PREFIX" ] || fail "cannot write into '$PREFIX': Permission denied" "choose another folder with --prefix"
prefix=$(cd "$PREFIX" && pwd)
exec 9>"$prefix/.lock"
flock -n 9 || { say "another installation into '$prefix' is under way: waiting for it"; flock 9; }

if [ -s "$prefix/installed.json" ] && jars_are_whole "$prefix" && archives_fit; then
  say "Kafka $version is already installed in $prefix"
  exit 0
fi
rm -f "$prefix/installed.json"
jars_are_whole "$prefix" || fetch_jars
[ -s "$prefix/template/bootstrap.checkpoint" ] || make_template
archives_fit || make_archives
write_record
rm -rf "$prefix/work"
say "Kafka $version installed in $prefix ($((SECONDS - started)) s)"
