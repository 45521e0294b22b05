"""Reads scripts/layers.rules."""

import fnmatch
import re

from .tree import matches


class RuleError(Exception):
    pass


class Rules:
    def __init__(self, text, name="layers.rules"):
        self.layers = []      # (pattern, level)
        self.allowed = []     # (from pattern, to pattern)
        self.test_files = []  # names
        self.tests = []       # (from pattern, to pattern)
        self.confined = []    # (from pattern, [to patterns])
        self.owned = []       # (header patterns, places)
        self.linked = []      # (target patterns, places)
        self.unnamed = []     # (words, folders)
        for number, line in enumerate(text.splitlines(), 1):
            words = line.split("#")[0].split()
            if words:
                try:
                    self._add(words[0], words[1:])
                except (ValueError, IndexError):
                    raise RuleError(f"{name}:{number}: cannot read the rule '{line.strip()}'") from None

    def _add(self, kind, words):
        if kind == "layer":
            self.layers += [(folder, int(words[0])) for folder in words[1:]]
        elif kind == "test-files":
            self.test_files += words
        elif kind in ("allow", "tests"):
            left, right = _split(words, "->")
            (self.allowed if kind == "allow" else self.tests).extend((a, b) for a in left for b in right)
        elif kind == "confine":
            left, right = _split(words, "->")
            self.confined += [(a, [b for b in right if b != "-"]) for a in left]
        elif kind in ("own", "link", "unnamed"):
            {"own": self.owned, "link": self.linked, "unnamed": self.unnamed}[kind].append(_split(words, ":"))
        else:
            raise ValueError(kind)

    def folder(self, path):
        """The ruled folder that a file or folder belongs to and its layer: the longest that matches."""
        parts = path.split("/")
        for length in range(len(parts), 0, -1):
            prefix = "/".join(parts[:length])
            for pattern, level in self.layers:
                if pattern.count("/") == length - 1 and matches(prefix, pattern):
                    return prefix, level
        return None, None

    def is_test(self, path):
        name = path.rsplit("/", 1)[-1]
        return path.startswith("tests/") or any(fnmatch.fnmatchcase(name, p) for p in self.test_files)

    def refusal(self, source, target, in_test=False):
        """Why `source` (a folder) may not use `target` (a folder); None when it may."""
        if source == target:
            return None
        if in_test and any(matches(source, a) and matches(target, b) for a, b in self.tests):
            return None
        for pattern, places in self.confined:
            if matches(source, pattern) and not any(matches(target, p) for p in places):
                return f"{source} is confined to {', '.join(places) or 'itself'}"
        if any(matches(source, a) and matches(target, b) for a, b in self.allowed):
            return None
        from_level, to_level = self.folder(source)[1], self.folder(target)[1]
        if to_level < from_level:
            return None
        if to_level == from_level:
            return f"{source} and {target} are neighbours in layer {from_level}"
        return f"{target} (layer {to_level}) lies above {source} (layer {from_level})"

    def places_of_header(self, header):
        return _places(self.owned, lambda pattern: matches(header, pattern))

    def places_of_target(self, target):
        return _places(self.linked, lambda pattern: re.fullmatch(
            re.escape(pattern.lower()).replace(r"\*", ".*"), target.lower()))


def _split(words, mark):
    at = words.index(mark)
    if at == 0 or at == len(words) - 1:
        raise ValueError(mark)
    return words[:at], words[at + 1:]


def _places(rules, hit):
    """The places named for the first rule that is hit, or None when no rule speaks of it."""
    for patterns, places in rules:
        if any(hit(p) for p in patterns):
            return places
    return None
