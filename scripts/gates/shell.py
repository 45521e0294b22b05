"""shellcheck finds nothing in the shell scripts, and no pipe ends in `grep -q`: that leaves at its first hit, which
ends who still writes by SIGPIPE, and under pipefail the hit is told as a miss."""

import json
import re
import subprocess

from .tree import Finding, need

NAME = "shell"
PURPOSE = "shellcheck finds nothing in the shell scripts; no pipe ends in grep -q"

PIPE_INTO_QUIET_GREP = re.compile(r"\|\s*grep\s+(-\S+\s+)*-\w*q")


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
            for hit in json.loads(done.stdout) if hit["level"] != "style"] + [
                Finding(script, number, "a pipe ends in grep -q: under pipefail its hit may be told as a miss; "
                                        "write grep -q ... <(command)")
                for script in scripts for number, line in enumerate(tree.text(script).splitlines(), 1)
                if PIPE_INTO_QUIET_GREP.search(line)]
