"""What both benchmarks of this folder share: a pilot of its own, and how its log tells what happened when."""

import datetime
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile


def say(text):
    print(text, file=sys.stderr, flush=True)


class Pilots:
    """A home for pilots that goes away with what is left in it."""

    def __init__(self, prefix):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="elastic-bench-"))
        self.env = dict(os.environ, PILOT_HOME=str(self.folder / "home"), TMPDIR=str(self.folder / "tmp"))
        (self.folder / "tmp").mkdir()
        if prefix:
            self.env["PATH"] = f"{prefix.resolve() / 'bin'}:{self.env['PATH']}"
        if not shutil.which("pilot", path=self.env["PATH"]):
            sys.exit("there is no 'pilot' on PATH; --prefix names an installation")
        self.names = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for name in self.names:
            subprocess.run(["pilot", "stop", name], env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, *command, codes=(0,)):
        done = subprocess.run(command, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode not in codes:
            raise RuntimeError(f"'{' '.join(map(str, command))}' exited with {done.returncode}:\n{done.stderr[-2000:]}")
        return done.stdout

    def start(self, name, nodes, *more):
        self.names.append(name)
        self.run("pilot", "start", name, "--framework", "kafka", "--nodes", str(nodes), *more)

    def stop(self, name):
        self.run("pilot", "stop", name)
        self.names.remove(name)

    def home(self, name):
        return self.folder / "home" / "pilots" / name

    def kafka(self):
        """Where the installed Kafka is."""
        found = json.loads(self.run("pilot", "frameworks", "list", "--json"))["frameworks"]
        return next(f["software"]["home"] for f in found if f["name"] == "kafka")

    def events(self, name):
        return [json.loads(line) for line in (self.home(name) / "events.jsonl").read_text().splitlines()]


def time_of(event):
    """Seconds since 1970, of a time in nanoseconds."""
    whole, part = event["at"].rstrip("Z").split(".")
    moment = datetime.datetime.fromisoformat(whole).replace(tzinfo=datetime.timezone.utc)
    return moment.timestamp() + float("0." + part)


def first(events, kind, **fields):
    return next(e for e in events if e["kind"] == kind and all(e.get(k) == v for k, v in fields.items()))
