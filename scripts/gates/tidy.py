"""clang-tidy with the short list of checks in .clang-tidy.

Product code only: GoogleTest makes a test twice as slow to analyse as what it tests, and the sanitizers run
the tests anyhow.
"""

import collections
import os
import re
import subprocess
import tempfile

from . import compile_database
from .cached import run_cached
from .tree import Finding, Skip, need

NAME = "tidy"
PURPOSE = "clang-tidy-19 finds none of the bugs listed in .clang-tidy in product code"

TOGETHER = 8  # sources of one target: most of the time goes into the headers that they share

HIT = re.compile(r"^(/.+?):(\d+):\d+: (?:error|warning): (.*)$", re.MULTILINE)


def run(tree):
    need("clang-tidy-19")
    version = subprocess.run(["clang-tidy-19", "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    commands = {path: entry for path, entry in compile_database.entries(tree).items()
                if not path.endswith("_test.cpp") and not path.startswith("tests/")}
    if not commands:
        raise Skip(f"{tree.build_dir} compiles no source of this tree")
    settings = tree.text(".clang-tidy")

    def key(path):
        flags = [a for a in commands[path][1] if a.startswith(("-D", "-I", "-std", "/"))]
        return tree.digest(path, version, settings, *flags)

    def tidy(source, *how):
        return subprocess.run(
            ["clang-tidy-19", "--quiet", "--extra-arg=-w",  # g++ has the warnings
             f"--header-filter=^{re.escape(str(tree.root))}/(pilot|adaptors|miniapps|tests)/", source, *how],
            cwd=tree.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)

    def groups_of(paths):
        """Sources that are compiled alike, so many at a time."""
        alike = collections.defaultdict(list)
        for path in paths:
            alike[os.path.dirname(path), *flags_of(commands[path][1])].append(path)
        return [some[i:i + TOGETHER] for some in alike.values() for i in range(0, len(some), TOGETHER)]

    def clean(paths):
        """Nothing is found in one source that includes them all, as in a unity build."""
        with tempfile.TemporaryDirectory() as folder:
            together = os.path.join(folder, "together.cpp")
            with open(together, "w", encoding="utf-8") as file:
                file.writelines(f'#include "{tree.root / path}"\n' for path in paths)
            with open(os.path.join(folder, ".clang-tidy"), "w", encoding="utf-8") as file:
                file.write(settings)
            done = tidy(together, "--", *flags_of(commands[paths[0]][1]))
        return done.returncode == 0 and not HIT.search(done.stdout)

    def check(path):
        done = tidy(str(tree.root / path), "-p", str(tree.build_dir))
        findings = {Finding(os.path.relpath(h[1], tree.root), int(h[2]), h[3]) for h in HIT.finditer(done.stdout)}
        if done.returncode and not findings:
            findings = {Finding(path, 0, f"clang-tidy: {(done.stdout + done.stderr).strip()[-300:]}")}
        return list(findings)

    return run_cached(NAME, sorted(commands), key, check, groups_of, clean)


def flags_of(arguments):
    """What a compiler is told beside its source and its output."""
    words, before = [], ""
    for word in arguments[1:]:
        if before in ("-isystem", "-include", "-I", "-D") or (word.startswith("-") and word not in ("-c", "-o")):
            words.append(word)
        before = word
    return words
