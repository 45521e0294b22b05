"""Runs a slow check over many files, in parallel, and remembers each result by the content it depends on."""

import concurrent.futures
import json
import os
import sys
import time

from .tree import Finding, cache_dir, jobs

KEEP = 30 * 24 * 3600  # seconds for which an unused result is kept


def run_cached(gate, items, key_of, work, groups_of=None, clean=None):
    """Findings of work(item) for all items.  key_of(item) names a result; equal keys are not run again.

    Where it is quicker to look at several at once: groups_of(items) -> lists of items, and clean(items) is true
    when nothing is found in any of them.  Only in a group that is not clean each one is looked at by itself.
    """
    folder = cache_dir(gate)
    findings, todo = [], {}
    for item in items:
        entry = folder / key_of(item)
        stored = _load(entry)
        if stored is None:
            todo[item] = entry
        else:
            findings += stored
    progress = _Progress(gate, len(todo), len(items))
    groups = groups_of(list(todo)) if groups_of else [[item] for item in todo]

    def look(group):
        if len(group) > 1 and clean(group):
            return {item: [] for item in group}
        return {item: work(item) for item in group}

    with concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
        futures = [pool.submit(look, group) for group in groups]
        try:
            for future in concurrent.futures.as_completed(futures):
                for item, result in future.result().items():
                    _save(todo[item], result)
                    findings += result
                    progress.step()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    progress.end()
    _forget_old(folder)
    return sorted(set(findings), key=lambda f: (f.path, f.line, f.message))


def _load(entry):
    try:
        stored = json.loads(entry.read_text())
        os.utime(entry)
        return [Finding(**f) for f in stored]
    except (OSError, ValueError, TypeError):
        return None


def _save(entry, findings):
    draft = entry.with_name(f"{entry.name}.{os.getpid()}")
    draft.write_text(json.dumps([vars(f) for f in findings]))
    draft.replace(entry)


def _forget_old(folder):
    limit = time.time() - KEEP
    for entry in folder.iterdir():
        try:
            if entry.stat().st_mtime < limit:
                entry.unlink()
        except OSError:
            pass  # another run was faster


class _Progress:
    """A rewritten line on a terminal, a line every ten seconds elsewhere."""

    def __init__(self, gate, total, items):
        self.gate, self.total, self.items, self.done = gate, total, items, 0
        self.tty, self.last = sys.stderr.isatty(), time.monotonic()

    def step(self):
        self.done += 1
        now = time.monotonic()
        if now - self.last < (0.2 if self.tty else 10):
            return
        self.last = now
        line = f"{self.gate}: {self.done} of {self.total} files ({self.items - self.total} known from before)"
        print(f"\r\033[K{line}" if self.tty else line, end="" if self.tty else "\n", file=sys.stderr, flush=True)

    def end(self):
        if self.tty and self.total:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
