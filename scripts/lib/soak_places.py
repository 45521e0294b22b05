"""Where a soak runs: commands as a user would give them, and what can be broken there."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Failure(Exception):
    """Something that must hold does not."""


class Place:
    """Commands of pilot and the mini-apps, with the programs of one installation."""

    base_nodes = 3
    most_nodes = 5
    start_flags = []

    def __init__(self, prefix, scratch):
        self.programs, self.scratch = prefix / "bin", pathlib.Path(scratch)
        if not (self.programs / "pilot").exists():
            raise SystemExit(f"soak: no pilot in {self.programs}; scripts/setup installs it")

    def command(self, words):
        raise NotImplementedError

    def run(self, *words, timeout=300, may_fail=False):
        """Runs a command to its end; returns (exit code, standard output, standard error)."""
        done = subprocess.run(self.command(words), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=timeout, check=False)
        if done.returncode and not may_fail:
            raise Failure(f"'{' '.join(words)}' ended with {done.returncode}: {done.stderr.strip()[-600:]}")
        return done.returncode, done.stdout, done.stderr

    def start(self, output, *words):
        """Starts a command that runs on; its output goes into the file."""
        with open(output, "w", encoding="utf-8") as file:
            return subprocess.Popen(self.command(words), stdin=subprocess.DEVNULL, stdout=file,
                                    stderr=open(f"{output}.err", "w", encoding="utf-8"))

    def status(self):
        return json.loads(self.run("pilot", "status", "soak", "--json", timeout=60)[1])

    def signal(self, host, pid, number):
        raise NotImplementedError

    def may_crash(self, _host):
        return False

    def leftovers(self):
        return []


class LocalPlace(Place):
    name = "local"

    def __init__(self, prefix, scratch):
        super().__init__(prefix, scratch)
        (self.scratch / "tmp").mkdir()

    def command(self, words):
        return ["env", "-C", str(self.scratch), f"PILOT_HOME={self.scratch}/home", f"TMPDIR={self.scratch}/tmp",
                f"PATH={self.programs}:{os.environ['PATH']}", *words]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.run("pilot", "stop", "soak", "--force", may_fail=True)

    def signal(self, _host, pid, number):
        with contextlib.suppress(ProcessLookupError):  # it has just ended, and its status is a moment old
            os.kill(pid, number)

    def leftovers(self):
        mark, found = f"PILOT_HOME={self.scratch}/home".encode(), []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and mark in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(f"process {entry.name} {(entry / 'cmdline').read_bytes()[:100]}")
            except OSError:
                continue
        return found + [f"scratch {p}" for p in (self.scratch / "tmp").glob("pilot-*")]


class SlurmPlace(Place):
    """A real Slurm on virtual hosts, as an ordinary user; hosts of extensions crash and come back."""

    name = "slurm"
    hosts = 5
    user = "pilot-soak"
    start_flags = ["--resource", "slurm", "-p", "long", "-t", "10h"]

    def __init__(self, prefix, scratch):
        super().__init__(prefix, scratch)
        kafka = json.loads(subprocess.run([self.programs / "pilot", "frameworks", "list", "--json"], check=True,
                                          capture_output=True, text=True).stdout)["frameworks"]
        self.kafka = next(f["software"]["home"] for f in kafka if f["name"] == "kafka" and f["software"])
        # Below /tmp, hosts share nothing but this.
        self.environment = dict(os.environ, VC_KEEP=str(self.scratch), VC_DIR=f"{self.scratch}/vc", VC_USER=self.user,
                                VC_SHOW=f"{self.programs}:{self.kafka}")
        os.chmod(self.scratch, 0o755)

    def cluster(self, *words, check=True, capture=True):
        return subprocess.run([ROOT / "scripts/vcluster", *words], env=self.environment, check=check, text=True,
                              capture_output=capture, stdin=subprocess.DEVNULL, cwd="/")

    def command(self, words):
        settings = [f"{name}={self.environment[name]}" for name in ("VC_KEEP", "VC_DIR", "VC_USER", "VC_SHOW")]
        return ["env", "-C", "/", *settings, str(ROOT / "scripts/vcluster"), "exec", "-u", self.user, "head", "env",
                "-u", "PILOT_HOME", "-u", "TMPDIR", "-u", "XDG_STATE_HOME", f"PATH={self.programs}:/usr/bin:/bin",
                f"KAFKA_HOME={self.kafka}", "sh", "-c", 'cd && exec "$@"', "sh", *words]

    def __enter__(self):
        self.cluster("up", str(self.hosts))
        for left in (".local/state/pilot", "out", "probe"):  # of an earlier soak
            shutil.rmtree(pathlib.Path(f"/home/{self.user}") / left, ignore_errors=True)
        return self

    def __exit__(self, *_):
        try:
            self.run("pilot", "stop", "soak", "--force", may_fail=True)
        finally:
            self.cluster("down")

    def signal(self, host, pid, number):
        # Process ids are those of the host.
        self.cluster("exec", host, "kill", f"-{number}", str(pid), check=False)

    def crash(self, host):
        self.cluster("crash", host)

    def boot(self, host):
        self.cluster("boot", host)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if "idle" in self.cluster("exec", "head", "sinfo", "-h", "-N", "-n", host, "-o", "%T").stdout:
                return
            time.sleep(0.5)
        raise Failure(f"{host} does not come back")

    def may_crash(self, host):
        return host != "head"

    def leftovers(self):
        found = []
        for number in range(1, self.hosts + 1):
            host = f"node{number:02d}"
            for words in (["pgrep", "-a", "-u", self.user], ["find", "/tmp", "/dev/shm", "-path", f"*/pilot-{self.user}-*"]):
                text = self.cluster("exec", host, *words, check=False).stdout.strip()
                found += [f"{host}: {text}"] if text else []
        jobs = self.cluster("exec", "-u", self.user, "head", "squeue", "--noheader", "--me").stdout.strip()
        return found + ([f"jobs: {jobs}"] if jobs else [])


STOP, CONT, KILL = signal.SIGSTOP, signal.SIGCONT, signal.SIGKILL
