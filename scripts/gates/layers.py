"""The layer rule: includes and target links go down only, third-party headers stay with their owner."""

import re

from . import cmake_links
from .rules import RuleError, Rules
from .tree import INCLUDE, Finding, matches, without_comments

NAME = "layers"
PURPOSE = "includes and CMake links obey scripts/layers.rules"


def run(tree):
    try:
        rules = Rules(tree.text("scripts/layers.rules"))
    except RuleError as problem:
        return [Finding("scripts/layers.rules", 0, str(problem))]
    findings, used = [], {}
    for path in tree.code():
        if path.startswith("scripts/") or path.startswith("cmake/"):
            continue
        folder, _ = rules.folder(path)
        if folder is None:
            findings.append(Finding(path, 0, "its folder has no layer; add it to scripts/layers.rules"))
            continue
        findings += _includes(tree, rules, path, folder, used)
        findings += _names(tree, rules, path, folder)
    findings += _links(tree, rules)
    findings += _cycles(used)
    return findings


def _includes(tree, rules, path, folder, used):
    for include in tree.includes(path):
        ours = _ours(tree, include)
        places = rules.places_of_header(include.name)
        if ours is None or ours == "" and places:  # (Highway's own headers are included in quotes)
            if places is not None and not any(matches(path, p) for p in places):
                yield Finding(path, include.line, f"<{include.name}> belongs to {' '.join(places)}")
        elif ours == "":
            yield Finding(path, include.line, f'"{include.name}" does not exist from the root of the tree; '
                          "includes of ours are full paths")
        else:
            target, _ = rules.folder(include.name)
            if target is None:
                yield Finding(path, include.line, f'"{include.name}" lies in a folder without a layer')
            elif reason := rules.refusal(folder, target, rules.is_test(path)):
                yield Finding(path, include.line, f'may not include "{include.name}": {reason}')
            elif rules.is_test(include.name) and not rules.is_test(path):
                yield Finding(path, include.line, f'"{include.name}" is for tests only')
            elif target != folder:
                used.setdefault(folder, {}).setdefault(target, (path, include.line))


def _ours(tree, include):
    """The path of an included file of ours, "" for one that is not where it says, None for third parties."""
    if (tree.root / include.name).is_file():
        return include.name
    if not include.quoted:
        return None
    generated = include.name.endswith(".inc") or "/generated/" in include.name
    return None if generated else ""


def _names(tree, rules, path, folder):
    if rules.is_test(path):
        return
    for words, folders in rules.unnamed:
        if not any(matches(folder, f) for f in folders):
            continue
        pattern = re.compile(r"(?<![a-z])(" + "|".join(map(re.escape, words)) + r")(?![a-z])", re.IGNORECASE)
        for number, line in enumerate(without_comments(tree.text(path)).splitlines(), 1):
            if not INCLUDE.match(line) and (hit := pattern.search(line)):
                yield Finding(path, number, f"{folder} may not name '{hit[1]}'; that belongs to its adaptor")


def _links(tree, rules):
    targets = cmake_links.read(tree)
    owner = {name: rules.folder(target.folder)[0] for name, target in targets.items()}
    for name, target in sorted(targets.items()):
        folder = owner[name]
        if folder is None:
            yield Finding(target.path, target.line, f"target {name}: its folder has no layer")
            continue
        for dependency, line, in_test in target.links:
            plain = dependency.replace("::", "_")
            if plain in owner:
                reason = owner[plain] and rules.refusal(folder, owner[plain], in_test)
                if reason:
                    yield Finding(target.path, line, f"target {name} may not link {dependency}: {reason}")
                continue
            places = rules.places_of_target(dependency)
            if places is not None and not any(matches(folder, p) for p in places):
                yield Finding(target.path, line,
                              f"target {name} may not link {dependency}: it belongs to {' '.join(places)}")


def _cycles(used):
    """Folders that include each other round about; only possible where `allow` rules contradict."""
    state = {}

    def visit(folder, trail):
        state[folder] = "open"
        for target, (path, line) in sorted(used.get(folder, {}).items()):
            if state.get(target) == "open":
                ring = trail[trail.index(target):] + [target]
                yield Finding(path, line, "folders include each other: " + " -> ".join(ring))
            elif target not in state:
                yield from visit(target, trail + [target])
        state[folder] = "done"

    for folder in sorted(used):
        if folder not in state:
            yield from visit(folder, [folder])
