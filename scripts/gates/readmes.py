"""Each folder with sources has a README.md that says what may enter."""

import os

from .tree import PRODUCT, Finding

NAME = "readmes"
PURPOSE = "each folder with sources has a README.md"
MARKS = (".cpp", ".hpp", ".c", ".h", ".py", ".sh", ".java", ".yaml", ".html")


def run(tree):
    folders = {os.path.dirname(f) for f in tree.files
               if f.endswith(MARKS) and f.split("/")[0] in PRODUCT + ("scripts", "cmake")}
    return [Finding(folder + "/", 0, "no README.md that says what the folder is for and what may enter")
            for folder in sorted(folders) if not _described(tree, folder)]


def _described(tree, folder):
    """A README of its own, or for a folder inside a part of the tree the README above that speaks of it."""
    here, above = tree.root / folder / "README.md", tree.root / os.path.dirname(folder) / "README.md"
    if here.is_file():
        return len(here.read_text(encoding="utf-8").split()) >= 15
    return above.is_file() and f"{os.path.basename(folder)}/" in above.read_text(encoding="utf-8")
