"""Sees to it that tests leave no process, mount, network namespace or listening port behind.

The caller becomes the subreaper of all that it starts: a daemon that a test detaches comes back to us as a
child, so what is ours is known exactly and by process id.  A run that was itself killed is found by a mark
in the environment of what it started.
"""

import contextlib
import ctypes
import os
import pathlib
import signal
import time

MARK = "PILOT_TEST_RUN"  # in the environment of everything a run starts; the value is the tree's path
PR_SET_CHILD_SUBREAPER = 36
GRACE = 5.0  # seconds in which the last processes of a test may still end on their own


def become_subreaper():
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


class Surroundings:
    """The mounts and network namespaces there were before."""

    def __init__(self):
        self.before = self._now()

    @staticmethod
    def _now():
        mounts = {"mount " + line.split()[4] for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines()}
        names = pathlib.Path("/run/netns")
        return mounts | {f"network namespace {n.name}" for n in (names.iterdir() if names.is_dir() else [])}

    def added(self):
        """What is there now and was not; it counts from now on as known."""
        now = self._now()
        new, self.before = sorted(now - self.before), now
        return new


def bury(but):
    """Reaps what has ended, except the child `but`: as init would, so that ended means gone to a test."""
    for pid in _children(os.getpid()):
        if pid != but:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)


def processes():
    """Our children that remain (a test's own processes have ended by now), as 'pid command'."""
    deadline = time.monotonic() + GRACE
    while True:
        _reap()
        found = _children(os.getpid())
        if not found or time.monotonic() > deadline:
            return found
        time.sleep(0.1)


def children():
    """Our children now, without patience."""
    _reap()
    return _children(os.getpid())


def describe(pid):
    try:
        words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        words = "(ended)"
    ports = _ports(pid)
    return f"process {pid} {words.strip()[:160]}" + (f", listens on {', '.join(ports)}" if ports else "")


def end(pids):
    """Ends these processes and all below them."""
    for number, patience in ((signal.SIGTERM, 3.0), (signal.SIGKILL, 5.0)):
        deadline = time.monotonic() + patience
        while pids and time.monotonic() < deadline:
            for pid in [p for top in pids for p in _tree(top)]:
                try:
                    os.kill(pid, number)
                except ProcessLookupError:
                    pass
            time.sleep(0.1)
            _reap()
            pids = [p for p in pids if pathlib.Path(f"/proc/{p}/stat").exists()]


def of_earlier_run(tree):
    """Processes with the mark of this tree that a killed run of the suite left."""
    mark, mine, found = f"{MARK}={tree}".encode(), _ancestors(), []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and int(entry.name) not in mine and mark in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            continue  # another user's, or gone
    return found


def _ancestors():
    pid, found = os.getpid(), []
    while pid > 0:
        found.append(pid)
        pid = _parent(pid)
    return found


def _parent(pid):
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0
    return int(stat[stat.rindex(")") + 2:].split()[1])


def _children(pid):
    try:
        return [int(p) for p in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _tree(pid):
    return [pid] + [p for child in _children(pid) for p in _tree(child)]


def _reap():
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def _ports(pid):
    """Addresses on which a process listens."""
    sockets = set()
    try:
        for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                sockets.add(os.readlink(entry).removeprefix("socket:[").removesuffix("]"))
        rows = [line.split() for line in pathlib.Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]]
    except OSError:
        return []
    return [_address(r[1]) for r in rows if r[3] == "0A" and r[9] in sockets]


def _address(text):
    host, port = text.split(":")
    return ".".join(str(b) for b in reversed(bytes.fromhex(host))) + f":{int(port, 16)}"
