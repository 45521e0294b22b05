"""Targets and their links, read from the CMakeLists.txt files (no configure needed)."""

import dataclasses
import os
import re

DEFINING = {"pilot_library", "pilot_program", "pilot_gtest", "pilot_fuzzer", "add_library", "add_executable"}
LINK_WORDS = {"DEPS", "PRIVATE_DEPS", "TEST_DEPS"}
OTHER_WORDS = {"SOURCES", "TESTS", "LABEL", "CORPUS", "HEADERS"}
NOT_LINKS = {"PUBLIC", "PRIVATE", "INTERFACE"}

COMMAND = re.compile(r"([A-Za-z_]\w*)\s*\(")
ARGUMENT = re.compile(r'"((?:\\.|[^"\\])*)"|([^\s()"]+)')


@dataclasses.dataclass
class Target:
    path: str
    folder: str
    line: int
    links: list  # (name, line, whether a test only)


def read(tree):
    """Target name -> Target, of the whole tree."""
    targets, later = {}, []
    for path in tree.files:
        if os.path.basename(path) != "CMakeLists.txt":
            continue
        variables = {}
        for command, line, arguments in _commands(tree.text(path)):
            if command == "set" or command == "list" and arguments[0][0] == "APPEND":
                name = arguments[0][0] if command == "set" else arguments[1][0]
                values = arguments[1:] if command == "set" else arguments[2:]
                variables.setdefault(name, []).extend(values)
                continue
            arguments = _expand(arguments, variables)
            if command in DEFINING and arguments:
                name = arguments[0][0]
                targets[name] = Target(path, os.path.dirname(path), line, 
                                       _links_of_call(arguments[1:], command == "pilot_gtest"))
            elif command == "target_link_libraries" and arguments:
                later.append((arguments[0][0], path, line, [(*a, False) for a in arguments[1:] if a[0] not in NOT_LINKS]))
    for name, path, line, links in later:
        target = targets.setdefault(name, Target(path, os.path.dirname(path), line, []))
        target.links += links
    return targets


def _commands(text):
    text = re.sub(r"#[^\n]*", lambda m: " " * len(m[0]), text)
    at = 0
    while found := COMMAND.search(text, at):
        depth, end = 1, found.end()
        while end < len(text) and depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        body = text[found.end():end - 1]
        arguments = [((m[1] if m[1] is not None else m[2]), text.count("\n", 0, found.end() + m.start()) + 1)
                     for m in ARGUMENT.finditer(body)]
        yield found[1].lower(), text.count("\n", 0, found.start()) + 1, arguments
        at = end


def _expand(arguments, variables):
    """Replaces ${VAR} by what the same file set, and unwraps generator expressions."""
    result = []
    for value, line in arguments:
        whole = re.fullmatch(r"\$\{(\w+)\}", value)
        if whole and whole[1] in variables:
            result += [(v, line) for v, _ in variables[whole[1]]]
        elif value.startswith("$<"):
            result += [(v, line) for v in re.findall(r"[A-Za-z_][\w:+-]*", value.rsplit(":", 1)[-1])]
        else:
            result.append((value, line))
    return result


def _links_of_call(arguments, is_test):
    links, taking = [], None
    for value, line in arguments:
        if value in LINK_WORDS | OTHER_WORDS:
            taking = value
        elif taking in LINK_WORDS:
            links.append((value, line, is_test or taking == "TEST_DEPS"))
    return links
