#!/usr/bin/env python3
"""MB/s into Kafka: miniapp's light source against Kafka's ProducerPerformance; see README.md."""

import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

PARTITIONS = 4
WARMUP_RECORDS = 100
QUEUE_BYTES = 64 << 20
SCAN = ["--phantom", "disc", "--size", "1024", "--angles", "512", "--slices", "32", "--no-noise"]
VARIABLES = ("KAFKA_BOOTSTRAP_SERVERS", "PILOT_KAFKA_CONFIG", "KAFKA_CLIENT_PROPERTIES")


def say(text):
    print(text, file=sys.stderr, flush=True)


def output_of(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, **options)
    if done.returncode:
        sys.exit(f"'{' '.join(command[:3])} ...' exited with {done.returncode}: {done.stderr.strip()[-500:]}")
    return done.stdout


class Cluster:
    """The one of the environment, or a pilot of our own for as long as this lasts."""

    def __init__(self, folder):
        self.pilot = None
        self.environment = dict(os.environ)
        if not all(os.environ.get(name) for name in VARIABLES):
            self.environment["PILOT_HOME"] = str(folder / "pilot")
            self.pilot = "bench-producer"

    def __enter__(self):
        if self.pilot:
            say("starting a pilot with one broker")
            output_of(["pilot", "start", self.pilot, "--resource", "local", "--nodes", "1", "--framework", "kafka"],
                      env=self.environment)
            answer = output_of(["pilot", "env", self.pilot, "--json"], env=self.environment)
            self.environment.update(json.loads(answer)["exports"])
        return self

    def __exit__(self, *_):
        if self.pilot:
            output_of(["pilot", "stop", self.pilot], env=self.environment)


def kafka_tool():
    """Java and the class path of Kafka's tools."""
    if os.environ.get("KAFKA_CLASSPATH"):
        return ["java", "-cp", os.environ["KAFKA_CLASSPATH"]]
    frameworks = json.loads(output_of(["pilot", "frameworks", "list", "--json"]))["frameworks"]
    software = next(f for f in frameworks if f["name"] == "kafka")["software"]
    if not software:
        sys.exit("Kafka is not installed: 'pilot frameworks install kafka'")
    return [software["java"], "-cp", software["details"]["classpath"]]


def run_source(cluster, topic, messages):
    answer = output_of(["miniapp", "source", "light", *SCAN, "--rate", "max", "--count", str(messages), "--topic", topic,
                        "--partitions", str(PARTITIONS), "--queue", str(QUEUE_BYTES), "--progress", "none", "--json"],
                       env=cluster.environment)
    report = json.loads(answer)
    if not report["complete"]:
        sys.exit(f"the source lost messages: {report}")
    return report["mb_per_s"], report["message_bytes"]


def run_peer(cluster, topic, messages, payload, java):
    text = output_of([*java[:1], "-Xmx1g", *java[1:], "org.apache.kafka.tools.ProducerPerformance", "--topic", topic,
                      "--num-records", str(messages + WARMUP_RECORDS), "--warmup-records", str(WARMUP_RECORDS),
                      "--throughput", "-1", "--command-config", cluster.environment["KAFKA_CLIENT_PROPERTIES"],
                      "--payload-file", str(payload), "--command-property", "acks=all", "linger.ms=0",
                      "max.request.size=41943040", f"buffer.memory={QUEUE_BYTES}"], env=cluster.environment)
    steady = re.findall(r"steady state records sent, ([\d.]+) records/sec", text)
    if not steady:
        sys.exit(f"ProducerPerformance printed no result: {text[-300:]}")
    return float(steady[-1]) * (payload.stat().st_size - 1) / 1e6


def delete_topic(cluster, topic, java):
    """Each run writes to fresh files, and the disk does not fill up."""
    output_of([*java[:1], "-XX:TieredStopAtLevel=1", *java[1:], "org.apache.kafka.tools.TopicCommand", "--bootstrap-server",
               cluster.environment["KAFKA_BOOTSTRAP_SERVERS"], "--command-config",
               cluster.environment["KAFKA_CLIENT_PROPERTIES"], "--delete", "--topic", topic], env=cluster.environment)


def measure(options, folder):
    java, payload, pairs = kafka_tool(), folder / "payload", []
    with Cluster(folder) as cluster:
        topic = f"bench-{os.getpid()}"
        _, size = run_source(cluster, topic, 50)  # warms the broker, and tells the size
        payload.write_bytes(bytes(65 + (i * i >> 3) % 26 for i in range(size)) + b"\n")
        run_peer(cluster, topic, 50, payload, java)
        delete_topic(cluster, topic, java)
        for number in range(options.pairs):
            rates = {}
            for who in ("source", "peer") if number % 2 == 0 else ("peer", "source"):
                run_topic = f"{topic}-{number}-{who}"
                # The peer's topic is made by the source, so that both have the same settings.
                if who == "source":
                    rates[who], _ = run_source(cluster, run_topic, options.messages)
                else:
                    run_source(cluster, run_topic, 1)
                    rates[who] = run_peer(cluster, run_topic, options.messages, payload, java)
                delete_topic(cluster, run_topic, java)
            pairs.append({**rates, "ratio": rates["source"] / rates["peer"]})
            say(f"pair {number + 1}: source {rates['source']:6.1f} MB/s, ProducerPerformance {rates['peer']:6.1f} MB/s, "
                f"ratio {pairs[-1]['ratio']:.2f}")
    return size, pairs


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--messages", type=int, default=500, help="per run, of about 2 MB")
    parser.add_argument("--json", action="store_true", help="the result as JSON on standard output")
    options = parser.parse_args()
    for program in ("miniapp", "pilot"):
        if not shutil.which(program) and not (program == "pilot" and os.environ.get("KAFKA_CLASSPATH")):
            sys.exit(f"there is no '{program}' on PATH")
    with tempfile.TemporaryDirectory(prefix="producer-bench.") as folder:
        size, pairs = measure(options, pathlib.Path(folder))
    medians = {key: statistics.median(pair[key] for pair in pairs) for key in ("source", "peer", "ratio")}
    say(f"median: source {medians['source']:.1f} MB/s, ProducerPerformance {medians['peer']:.1f} MB/s, "
        f"ratio {medians['ratio']:.2f} (wanted: at least 1.0)")
    if options.json:
        print(json.dumps({"schema": "bench.producer/1", "message_bytes": size, "messages": options.messages,
                          "median": medians, "pairs": pairs}, indent=2))
    return 0 if medians["ratio"] >= 1.0 else 1


if __name__ == "__main__":
    sys.exit(main())
