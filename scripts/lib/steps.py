"""Runs commands as steps: shows that something goes on, keeps the output in a log, shows its end on failure."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

TAIL = 40          # lines of a failed step's output that are shown
FIRST_SIGN = 2.0   # seconds of silence that a reader bears
REPEAT = 10.0      # seconds between signs of life where lines can't be rewritten
WHEEL = "|/-\\"


class Steps:
    def __init__(self, log_folder, tick=lambda pid: None):
        """`tick` is called with the running command's process id ten times a second."""
        self.logs = pathlib.Path(log_folder)
        self.logs.mkdir(parents=True, exist_ok=True)
        self.tty = sys.stdout.isatty()
        self.tick = tick

    def run(self, title, command, quiet=False, **popen):
        """Runs a command; returns (exit code, log).  `quiet`: the caller explains a failure itself."""
        log = self.logs / (re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") + ".log")
        start = time.monotonic()
        with open(log, "wb") as output:
            process = subprocess.Popen([str(c) for c in command], stdin=subprocess.DEVNULL, stdout=output,
                                       stderr=subprocess.STDOUT, start_new_session=True, **popen)
        try:
            code = self._watch(process, title, log, start)
        except BaseException:
            self._clear()
            end_group(process)
            print(f"stop {time.monotonic() - start:7.1f} s  {title}", flush=True)
            raise
        self.note(title, time.monotonic() - start, "ok" if code == 0 else "FAIL")
        if code and not quiet:
            print("\n".join("    | " + line for line in tail(log, TAIL)))
            print(f"    exit code {code}; all of its output: {log}", flush=True)
        return code, log

    def note(self, title, seconds, result="ok"):
        print(f"{result:4} {seconds:7.1f} s  {title}", flush=True)

    def _watch(self, process, title, log, start):
        sign, turn = start + FIRST_SIGN, 0
        while True:
            try:
                code = process.wait(0.1)
                self._clear()
                return code
            except subprocess.TimeoutExpired:
                pass
            self.tick(process.pid)
            now = time.monotonic()
            if self.tty:
                turn += 1
                line = f"{WHEEL[turn % 4]}    {now - start:7.1f} s  {title}"
                last = (tail(log, 1) or [""])[0]
                width = shutil.get_terminal_size().columns - 1
                print("\r\033[K" + f"{line}  {last}"[:width], end="", flush=True)
            elif now >= sign:
                sign = now + REPEAT
                print(f"...  {now - start:7.1f} s  {title}  {(tail(log, 1) or [''])[0][:150]}", flush=True)

    def _clear(self):
        if self.tty:
            print("\r\033[K", end="", flush=True)


def tail(log, lines):
    """The last lines with content, without terminal codes."""
    try:
        with open(log, "rb") as file:
            file.seek(max(0, os.path.getsize(log) - 32768))
            text = file.read().decode(errors="replace")
    except OSError:
        return []
    text = re.sub(r"\033\[[0-9;?]*[A-Za-z]", "", text).replace("\r", "\n")
    return [line.rstrip() for line in text.split("\n") if line.strip()][-lines:]


def end_group(process):
    """Ends a command that we started and all of its process group, politely first."""
    for number, patience in ((signal.SIGINT, 10), (signal.SIGTERM, 5), (signal.SIGKILL, 5)):
        try:
            os.killpg(process.pid, number)
            process.wait(patience)
            return
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue


def end_on_sigterm():
    """SIGTERM ends us as Ctrl-C does: what we started is stopped first."""
    def stop(number, _frame):
        raise SystemExit(128 + number)
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGHUP, stop)
