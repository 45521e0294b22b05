"""Debian packages: which are wanted, which are missing, how to get them."""

import contextlib
import os
import pathlib
import shutil
import subprocess
import time

APT = ["apt-get", "-o", "Acquire::Retries=3", "-o", "DPkg::Lock::Timeout=300"]
ENVIRONMENT = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}


def wanted(groups):
    lines = (pathlib.Path(__file__).parent.parent / "packages.txt").read_text().splitlines()
    words = (line.split("#")[0].split() for line in lines)
    return [w[1] for w in words if w and w[0] in groups]


def missing(packages):
    """Those of `packages` that are not installed; None where there is no dpkg to ask."""
    if not shutil.which("dpkg-query"):
        return None
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\\n", *packages],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    there = {line.split()[0] for line in done.stdout.splitlines() if line.split()[1:] == ["installed"]}
    return [p for p in packages if p not in there]


@contextlib.contextmanager
def no_daemons():
    """Packages' daemons are not started meanwhile: the virtual cluster starts its own, on its own hosts."""
    policy = pathlib.Path("/usr/sbin/policy-rc.d")
    if policy.exists() or not policy.parent.is_dir():  # somebody else's word counts
        yield
        return
    policy.write_text("#!/bin/sh\nexit 101\n", encoding="ascii")
    policy.chmod(0o755)
    try:
        yield
    finally:
        policy.unlink(missing_ok=True)


def install(steps, packages):
    """Installs as root, without starting what is installed.  True when all are there afterwards."""
    with no_daemons():
        return _install(steps, packages)


def _install(steps, packages):
    audit = subprocess.run(["dpkg", "--audit"], stdout=subprocess.PIPE, text=True, check=False)
    if audit.stdout.strip():  # an interrupted run left packages half configured
        steps.run("finish an interrupted package installation", ["dpkg", "--configure", "-a"], env=ENVIRONMENT)
    update = [*APT, "update"]
    fetch = [*APT, "install", "-y", "--no-install-recommends", *packages]
    for attempt in (1, 2, 3):
        again = "" if attempt == 1 else f" (attempt {attempt})"
        if (steps.run("read the package lists" + again, update, env=ENVIRONMENT)[0] == 0 and
                steps.run(f"install {len(packages)} Debian packages" + again, fetch, env=ENVIRONMENT)[0] == 0):
            return not missing(packages)
        if attempt < 3:
            time.sleep(5 * attempt)  # a mirror in trouble; not a wait for something of ours
    return False
