"""Every header compiles on its own.

A header that is the first include of a source of the same name has been compiled alone by the build
already, so only the others are compiled here.  Files named *-inl.h are sources that Highway includes once
for each instruction set; they are no headers.
"""

import re
import subprocess

from . import compile_database
from .cached import run_cached
from .tree import HEADERS, Finding, need

NAME = "headers"
PURPOSE = "each header compiles alone (C headers as C and as C++)"

GUARD = re.compile(r"^#pragma once|^#ifndef (\w+)\s*\n#define \1\b", re.MULTILINE)
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"]


def run(tree):
    need("g++", "gcc")
    version = subprocess.run(["g++", "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    flags = ["-I.", '-DPILOT_SOURCE_DIR=""', '-DPILOT_BINARY_DIR=""',  # as every test has them
             *compile_database.include_flags(tree)]

    def check(header):
        languages = [("g++", "c++", "-std=c++20")]
        if header.endswith(".h"):
            languages.append(("gcc", "c", "-std=c11"))
        findings = []
        for compiler, language, standard in languages:
            done = subprocess.run([compiler, standard, *WARNINGS, *flags, "-x", language, "-fsyntax-only", "-"],
                                  input=f'#include "{header}"\n', cwd=tree.root,
                                  stderr=subprocess.PIPE, text=True, check=False)
            if done.returncode:
                findings.append(_first(header, language, done.stderr))
        return findings

    headers = [f for f in tree.code(HEADERS) if not f.endswith("-inl.h")]
    unguarded = [Finding(h, 0, "has no '#pragma once' (or guard)") for h in headers if not GUARD.search(tree.text(h))]
    built = {source for source in compile_database.entries(tree) if source.endswith(".cpp")}
    alone = [h for h in headers if h.endswith(".h") or not _comes_first(tree, h, built)]
    return unguarded + run_cached(NAME, alone, lambda h: tree.digest(h, version, *flags), check)


def _comes_first(tree, header, built):
    source = header[:header.rindex(".")] + ".cpp"
    return source in built and [i.name for i in tree.includes(source)[:1]] == [header]


def _first(header, language, output):
    hit = re.search(r"^(?:\./)?(.+?):(\d+):\d+: (?:fatal )?error: (.*)$", output, re.MULTILINE)
    if not hit:
        return Finding(header, 0, f"does not compile alone as {language}: {output.strip()[:300]}")
    return Finding(header, int(hit[2]) if hit[1] == header else 0,
                   f"does not compile alone as {language}: "
                   + ("" if hit[1] == header else f"{hit[1]}:{hit[2]}: ") + hit[3])
