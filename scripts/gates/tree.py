"""The source tree as the gates see it: files, include lines, findings."""

import dataclasses
import fnmatch
import functools
import hashlib
import os
import pathlib
import re
import shlex
import subprocess

PRODUCT = ("pilot", "adaptors", "miniapps", "tests", "examples")
NOT_OURS = {"build", "dist", "out", "fixtures", "__pycache__", "golden"}
SOURCES = (".cpp", ".c", ".cc")
HEADERS = (".hpp", ".h")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


class Skip(Exception):
    """A gate that can't run here; the text says why."""


@dataclasses.dataclass(frozen=True)
class Finding:
    path: str
    line: int
    message: str
    severity: str = "error"  # or "warning", which does not fail the check

    def text(self):
        where = f"{self.path}:{self.line}" if self.line else self.path
        return f"{where}: {self.severity}: {self.message}"


@dataclasses.dataclass(frozen=True)
class Include:
    line: int
    name: str
    quoted: bool


class Tree:
    def __init__(self, root, build_dir=None):
        self.root = pathlib.Path(root).resolve()
        self._build_dir = build_dir

    @functools.cached_property
    def files(self):
        """All files of ours, as sorted paths relative to the root."""
        found = []
        for top, folders, names in os.walk(self.root):
            folders[:] = [f for f in folders if f == ".ci" or not (
                f in NOT_OURS or f.startswith(".") or f.endswith("corpus"))]
            found += [os.path.relpath(os.path.join(top, n), self.root) for n in names]
        return sorted(found)

    def code(self, suffixes=SOURCES + HEADERS):
        return [f for f in self.files if f.endswith(suffixes)]

    @functools.lru_cache(maxsize=None)
    def text(self, path):
        return (self.root / path).read_text(encoding="utf-8", errors="replace")

    @functools.lru_cache(maxsize=None)
    def includes(self, path):
        lines = without_comments(self.text(path)).splitlines()
        hits = ((n, INCLUDE.match(line)) for n, line in enumerate(lines, 1))
        return [Include(n, m[2], m[1] == '"') for n, m in hits if m]

    @functools.lru_cache(maxsize=None)
    def closure(self, path):
        """`path` and all files of ours that it includes, directly or not."""
        seen, todo = set(), [path]
        while todo:
            current = todo.pop()
            if current in seen:
                continue
            seen.add(current)
            todo += [i.name for i in self.includes(current) if (self.root / i.name).is_file()]
        return sorted(seen)

    def digest(self, path, *more):
        """Changes whenever `path`, a file of ours that it includes, or one of `more` changes."""
        parts = hashlib.sha256("\0".join(more).encode())
        for name in self.closure(path):
            parts.update(f"\0{name}\0{self.text(name)}".encode())
        return parts.hexdigest()

    @functools.cached_property
    def build_dir(self):
        """A configured build folder, for compile_commands.json; ours is brought up to date."""
        folder = pathlib.Path(self._build_dir) if self._build_dir else self.root / "build/check"
        if not self._build_dir or not (folder / "compile_commands.json").is_file():
            done = subprocess.run(["cmake", "--preset", "dev", "-B", str(folder)], cwd=self.root,  # no unity build
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode:
                raise Skip("cmake could not configure the tree: " + " | ".join(done.stdout.splitlines()[-5:]))
        return folder


def matches(path, pattern):
    """`pattern` is a folder (everything under it) or a glob, whose '*' stays within one part of the path.

    "**.cpp" as the last part, and a pattern of one part with a '*' or '.', mean a file in any folder below."""
    parts, wanted = path.split("/"), pattern.split("/")
    if len(wanted) == 1 and ("*" in pattern or "." in pattern) or wanted[-1].startswith("**"):
        return fnmatch.fnmatchcase(parts[-1], wanted[-1]) and (
            len(wanted) == 1 or len(parts) >= len(wanted) and all(map(fnmatch.fnmatchcase, parts, wanted[:-1])))
    return len(parts) >= len(wanted) and all(map(fnmatch.fnmatchcase, parts, wanted))


TOKEN = re.compile(r'R"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)"'      # raw string
                   r'|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\''
                   r'|//[^\n]*|/\*.*?\*/', re.DOTALL)


def _blank(text):
    return re.sub(r"[^\n]", " ", text)


def without_comments(text):
    return TOKEN.sub(lambda m: _blank(m[0]) if m[0].startswith(("//", "/*")) else m[0], text)


def without_comments_and_strings(text):
    return TOKEN.sub(lambda m: _blank(m[0]), text)


def cache_dir(name):
    """A folder of ours outside the checkout, so that a fresh clone profits from earlier runs."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not base.startswith("/"):
        base = os.path.join(os.path.expanduser("~"), ".cache")
    folder = pathlib.Path(base) / "pilot" / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def need(*tools):
    """Raises Skip unless each tool is on PATH."""
    import shutil
    missing = [t for t in tools if not shutil.which(t)]
    if missing:
        raise Skip(f"{', '.join(missing)} not installed; scripts/setup --dev installs it")


def jobs():
    return max(1, len(os.sched_getaffinity(0)))


def shown(command):
    return " ".join(shlex.quote(str(c)) for c in command)
