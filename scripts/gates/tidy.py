"""clang-tidy with the short list of checks in .clang-tidy.

Product code only: GoogleTest makes a test twice as slow to analyse as what it tests, and the sanitizers run
the tests anyhow.
"""

import os
import re
import subprocess

from . import compile_database
from .cached import run_cached
from .tree import Finding, Skip, need

NAME = "tidy"
PURPOSE = "clang-tidy-19 finds none of the bugs listed in .clang-tidy in product code"

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

    def check(path):
        done = subprocess.run(
            ["clang-tidy-19", "--quiet", "-p", str(tree.build_dir), "--extra-arg=-w",  # g++ has the warnings
             f"--header-filter=^{re.escape(str(tree.root))}/(pilot|adaptors|miniapps|tests)/", str(tree.root / path)],
            cwd=tree.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        findings = {Finding(os.path.relpath(h[1], tree.root), int(h[2]), h[3]) for h in HIT.finditer(done.stdout)}
        if done.returncode and not findings:
            findings = {Finding(path, 0, f"clang-tidy: {(done.stdout + done.stderr).strip()[-300:]}")}
        return list(findings)

    return run_cached(NAME, sorted(commands), key, check)
