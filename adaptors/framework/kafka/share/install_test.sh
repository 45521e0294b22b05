#!/bin/bash
# install.sh with a Java and a Maven that are played: what it says when something is missing, and that it
# does only what is not done yet.  The real installation is tested by every use of it.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

# A PATH of exactly these programs.
mkdir "$work/bin" "$work/java"
for program in bash sed head tail grep cat cut cp mv rm mkdir find sort xargs sha256sum du wc date flock dirname sleep; do
  ln -s "$(command -v $program)" "$work/bin/$program"
done

play_java() {  # version
  cat >"$work/java/java" <<X
#!/bin/bash
case "\$*" in
  -version) echo 'openjdk version "$1" 2026-01-01' >&2 ;;
  *"kafka.Kafka --version"*) echo 4.3.1 ;;
  *StorageTool*) while [ "\$1" != --config ]; do shift; done
     folder=\$(sed -n 's/^log.dirs=//p' "\$2") && mkdir -p "\$folder" && echo features >"\$folder/bootstrap.checkpoint" ;;
  *) exit 1 ;;
esac
X
  chmod +x "$work/java/java"
}

play_maven() {  # what it does with $folder
  cat >"$work/java/mvn" <<X
#!/bin/bash
for word in "\$@"; do case \$word in -DoutputDirectory=*) folder=\${word#*=} ;; esac; done
echo called >>"$work/maven-calls"
$1
X
  chmod +x "$work/java/mvn"
}
jars="mkdir -p \$folder; for jar in kafka_2.13-4.3.1 kafka-clients-4.3.1 kafka-server-4.3.1 kafka-raft-4.3.1 kafka-tools-4.3.1 log4j-slf4j-impl-2.25.4; do echo \$jar >\$folder/\$jar.jar; done"

install() {  # exit code that is expected, text that must be said
  local code=0
  env -i PATH="$work/java:$work/bin" PREFIX="${prefix:-$work/kafka}" ${java_home:+JAVA_HOME="$java_home"} \
    bash "$here/install.sh" >"$work/out" 2>"$work/err" || code=$?
  if [ "$code" -ne "$1" ] || ! grep -qF -- "$2" "$work/err"; then
    echo "FAILED: expected exit $1 and '$2', got $code and:"
    sed 's/^/    /' "$work/err"
    failures=$((failures + 1))
  else
    echo "ok: $2"
  fi
}

install 1 'Java is missing: Kafka needs Java 17 or newer'
play_java 11.0.2
install 1 "is version 11.0.2, Kafka needs 17 or newer"
play_java 1.8.0_392
install 1 "is version 1.8.0_392, Kafka needs 17 or newer"
java_home=$work/nowhere install 1 "JAVA_HOME is '$work/nowhere'"
play_java 17.0.9
install 1 'Maven is missing'
play_maven 'echo "[ERROR] Could not transfer artifact: connection refused"; exit 1'
install 1 'Could not transfer artifact: connection refused'
[ ! -e "$work/kafka/libs" ] || { echo 'FAILED: half an installation'; failures=$((failures + 1)); }
touch "$work/file"
prefix=$work/file/kafka install 1 "cannot make '$work/file/kafka': Not a directory"
play_maven "mkdir -p \$folder; echo x >\$folder/kafka-clients-4.3.1.jar"
install 1 "Maven left no 'kafka_2.13-4.3.1.jar'"
play_maven "$jars"
install 0 'warning: no class-data archives; Kafka works without them, but starts slower'
[ "$(cat "$work/kafka/template/bootstrap.checkpoint")" = features ] || { echo 'FAILED: no template'; failures=$((failures + 1)); }
grep -q '"version": "4.3.1".*"class_data_archives": false' "$work/kafka/installed.json" || { echo 'FAILED: no record'; failures=$((failures + 1)); }
mkdir "$work/kafka/cds"
echo x | tee "$work/kafka/cds/controller.jsa" >"$work/kafka/cds/broker.jsa"
echo "$work/java/java 17.0.9" >"$work/kafka/cds/java-version"
: >"$work/maven-calls"
install 0 'Kafka 4.3.1 is already installed in'
[ ! -s "$work/maven-calls" ] || { echo 'FAILED: fetched again'; failures=$((failures + 1)); }
echo damaged >"$work/kafka/libs/kafka-clients-4.3.1.jar"
install 0 'fetching jars of Kafka 4.3.1 with Maven'
[ "$(cat "$work/kafka/libs/kafka-clients-4.3.1.jar")" = kafka-clients-4.3.1 ] || { echo 'FAILED: the damaged jar stayed'; failures=$((failures + 1)); }
exit $((failures > 0))
