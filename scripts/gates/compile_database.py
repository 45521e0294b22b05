"""What CMake's compile_commands.json says."""

import json
import os
import shlex


def entries(tree):
    """Source path relative to the root -> (folder the compiler runs in, its arguments), for files of ours."""
    found = {}
    for entry in json.loads((tree.build_dir / "compile_commands.json").read_text()):
        path = os.path.relpath(os.path.join(entry["directory"], entry["file"]), tree.root)
        if not path.startswith("..") and (tree.root / path).is_file():
            found.setdefault(path, (entry["directory"], shlex.split(entry["command"])))
    return found


def include_flags(tree):
    """All third-party include folders that any source is compiled with."""
    flags = set()
    for directory, arguments in entries(tree).values():
        following = zip(arguments, arguments[1:] + [""])
        for argument, value in following:
            folder = argument[2:] if argument.startswith("-I") else value if argument == "-isystem" else ""
            absolute = os.path.normpath(os.path.join(directory, folder)) if folder else ""
            if absolute.startswith("/") and not absolute.startswith(str(tree.root)):
                flags.add(absolute)
    return [word for folder in sorted(flags) for word in ("-isystem", folder)]
