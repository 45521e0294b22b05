"""shellcheck finds nothing in the shell scripts."""

import json
import re
import subprocess

from .tree import Finding, need

NAME = "shell"
PURPOSE = "shellcheck finds nothing in the shell scripts"


def run(tree):
    need("shellcheck")
    scripts = [f for f in tree.files
               if f.endswith(".sh") or re.match(r"#!.*\b(ba|da)?sh\b", tree.text(f)[:80])]
    if not scripts:
        return []
    done = subprocess.run(["shellcheck", "--format=json", "--external-sources", "--source-path=SCRIPTDIR", *scripts],
                          cwd=tree.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode > 1:
        return [Finding("", 0, f"shellcheck: {done.stderr.strip()}")]
    return [Finding(hit["file"], hit["line"], f"SC{hit['code']}: {hit['message']}")
            for hit in json.loads(done.stdout) if hit["level"] != "style"]
